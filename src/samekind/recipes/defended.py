"""Systems that are trained against attacks.

Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021, table 1: clean and
attacked pictures together, the attack through the dense output layer. Epsilon is that of the paper's tests;
for CIFAR-10 its code trains with 16/255 of normalised pixels, a later version with 20/255 and attacked
pictures alone. Kim, "On the Significance of Distance in Machine Learning", 2023, section 6.2.1: NormFace of
clean pictures, ArcFace with a margin below 0 of attacked ones.
"""

from dataclasses import replace

from samekind.recipes.encoder import Recipes, Subject, shape_and_medium
from samekind.recipes.prototypical import prototypical
from samekind.recipes.proxies import proxies
from samekind.training import Defence, Run

#: How far grey and other items are moved: the epsilons of MNIST and CIFAR-10.
GREY, COLOUR = 0.3, 8 / 255


def prototypical_defended(items: Subject) -> Run:
    """The recipe prototypical, half of its loss that of attacked items. Grey pictures are attacked as MNIST
    is (0.3, 40 steps of 0.01), others as CIFAR-10 (8/255, 10 steps of 2/255).
    """
    if _is_grey(items):
        defence = Defence("mix", epsilon=GREY, steps=40, step=0.01, through="auxiliary")
    else:
        defence = Defence("mix", epsilon=COLOUR, steps=10, step=2 / 255, through="auxiliary")
    return replace(prototypical(items), recipe="prototypical-defended", defence=defence)


def norm_face_defended(items: Subject) -> Run:
    """The recipe norm-face with the margin of each class half of the angle to the nearest other proxy."""
    epsilon = GREY if _is_grey(items) else COLOUR
    defence = Defence("negative-margin", epsilon=epsilon, steps=10, through="similarity")
    return replace(proxies(items, classifier="norm-face"), recipe="norm-face-defended", defence=defence)


def _is_grey(items: Subject) -> bool:
    shape, medium = shape_and_medium(items)
    return medium.units(shape) == "channels" and shape[0] == 1


#: Both by the name of the recipe.
DEFENDED: Recipes = {"prototypical-defended": prototypical_defended, "norm-face-defended": norm_face_defended}
