from tests.browser.walk.conftest import Ground
from tests.browser.walk.test_walk import _alone
from tests.browser.walk.visitor import together

def test_learning(ground: Ground) -> None:
    one = ground.visitor()
    together({one: one.walk(_alone(one, [ground.at("learning")]))})
