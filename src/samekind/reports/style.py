"""The style of all figures: one palette, a few sizes.

The colours are those of Okabe and Ito, "Color Universal Design", 2008, which colour-blind readers can tell
apart; no figure relies on colour alone.
"""

INK, MUTED, FAINT, PAPER = "#1c2733", "#66727e", "#e3e7eb", "#ffffff"
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK = "#e69f00", "#56b4e9", "#3b4652"
INDIGO, BROWN, SAND = "#332288", "#661100", "#ddcc77"

#: What a colour means, wherever pairs or answers are shown.
SAME, DIFFERENT = BLUE, VERMILION
RIGHT, WRONG = GREEN, VERMILION

SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
#: For dots of many classes. The last three are Tol's, "Colour Schemes", 2012, chosen so that no two of the
#: ten are harder to tell apart for a colour-blind reader than two of the seven.
MANY = (*SERIES, INDIGO, BROWN, SAND)
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.4)), (0, (7, 2, 1.5, 2)))

#: Points of text: labels, ticks and notes, the words over a panel.
SIZE, SMALL, LARGE = 9.0, 8.0, 10.0

#: Inches: a figure that has the page to itself, one beside its caption, one of two side by side.
FULL, BESIDE, HALF = 10.5, 7.0, 5.1
