"""Sounds behind tokens, which are asked for once: played, recorded as WAV, compared and named."""

import io

import numpy as np
import soundfile
from playwright.sync_api import expect


def enter(page, token):
    page.get_by_role("textbox", name="Token").fill(token)
    page.get_by_role("button", name="Continue").click()


def test_a_token_is_asked_for_and_sounds_are_compared(visit, servers, voices):
    page = visit("compare", server="sounds", expected=[401, 404])
    enter(page, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("does not know this token")
    enter(page, servers.token)
    page.get_by_label("First item: choose").set_input_files(voices[0])
    page.get_by_label("Second item: choose").set_input_files(voices[1])
    expect(page.locator(".verdict-words")).to_have_text("Different kinds")
    sound = page.get_by_label("Play low.wav")
    assert sound.evaluate("sound => sound.play().then(() => sound.duration)") > 0.9
    page.reload()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name="Compare two")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage)") == []


def test_a_recording_is_sent_as_wav(visit, servers):
    page = visit("classify", server="sounds", expected=[401], permissions=["microphone"])
    enter(page, servers.token)
    page.get_by_role("button", name="Items to name: Record").click()
    expect(page.locator(".clock")).not_to_have_text("0.0 s")
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Stop and use").click()
    sound = page.get_by_label("Play recording.wav").first
    assert sound.evaluate("sound => sound.play().then(() => sound.duration)") > 0.3
    expect(page.get_by_role("article").locator(".named")).to_be_visible()


def test_samples_are_written_as_wav(visit):
    page = visit("classify", server="points")
    blocks = [[0.0, 0.5, -0.5], [1.0, -1.0, 2.0]]
    script = """async (blocks) => {
      const { wav } = await import("/page/js/items/wav.js");
      return [...new Uint8Array(wav(blocks, 8000))];
    }"""
    samples, rate = soundfile.read(io.BytesIO(bytes(page.evaluate(script, blocks))))
    assert rate == 8000
    np.testing.assert_allclose(samples, [0, 0.5, -0.5, 1, -1, 1], atol=1e-4)


def test_a_token_that_may_not_rename_sees_no_buttons(visit, servers):
    page = visit("enrol", server="sounds", expected=[401])
    enter(page, servers.token)
    expect(page.get_by_role("rowheader", name="high")).to_be_visible()
    assert page.get_by_role("button", name="Delete").count() == 0
    expect(page.get_by_role("button", name="Enrol", exact=True)).to_be_visible()
