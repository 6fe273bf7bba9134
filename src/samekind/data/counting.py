"""Numbers of things, in words that agree with the number."""


def counted(number: int, one: str, many: str) -> str:
    """The number with the word that belongs to it, and the verb too where the word brings one.

    >>> counted(1, "class", "classes"), counted(1200, "class has", "classes have")
    ('1 class', '1,200 classes have')
    """
    return f"{number:,} {one if number == 1 else many}"
