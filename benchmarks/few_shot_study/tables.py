"""The tables of the page (stub)."""

from grids.results import Results


def summary(results: Results) -> str:
    return "\n".join(
        f"{name}-{seed} {key} {100 * row['mean']:.2f} ± {100 * row['half']:.2f}"
        for (name, seed), content in results.contents.items()
        for key, row in content["test"].items()
    )


def tables(results):
    return summary(results)
