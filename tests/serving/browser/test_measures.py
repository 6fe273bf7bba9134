"""The measures of the run with their intervals."""

from playwright.sync_api import expect


def test_the_rows_are_those_of_the_run(visit, ask):
    page = visit("measures")
    rows = ask("GET", "/measures")["rows"]
    section = page.get_by_role("region", name="What is most like this?")
    recall = next(row for row in rows if row["measure"] == "Recall@1" and row["items"] == "seen")
    line = section.get_by_role("row").filter(has_text="Recall@1").filter(has_text="known classes")
    expect(line.first).to_contain_text(f"{100 * recall['low']:.1f}")
    page.get_by_label("Every score").check()
    expect(page.locator("tbody tr")).to_have_count(len(rows))
    page.get_by_text("What the measures mean").click()
    assert page.locator(".meanings dt").count() > 3


def test_without_measures_the_page_says_how_to_make_them(visit):
    page = visit("measures", server="points", expected=[404])
    expect(page.locator(".empty")).to_contain_text("samekind evaluate")
