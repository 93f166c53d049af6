"""The pages of a small shop in the structure of WebShop's templates, and what a purchase pays."""

from html import escape
from typing import NamedTuple
from urllib.parse import quote


class Product(NamedTuple):
    asin: str
    title: str
    price: str
    options: dict[str, list[str]]


PRODUCTS = [
    Product(
        "B000000001",
        "Red canvas shoes",
        "$20.0",
        {"size": ["8", "9"], "color": ["red", "dark red"]},
    ),
    Product("B000000002", "Blue canvas shoes", "$18.0", {}),
    Product("B000000003", "Red mug", "$5.0", {}),
]
GOALS = [
    (
        "i want red canvas shoes in size 9, price lower than 30.00 dollars",
        "B000000001",
        {"size": "9"},
    ),
    ("i want a red mug, price lower than 10.00 dollars", "B000000003", {}),
]
SUBPAGES = {"Description": "Made for this test.", "Features": "Light.", "Reviews": ""}


def matching_products(words: str) -> list[Product]:
    wanted = set(words.lower().split())
    return [one for one in PRODUCTS if wanted & set(one.title.lower().split())]


def paid(goal: int, asin: str, options: dict[str, str]) -> float:
    _, right, wanted = GOALS[goal]
    return 0.0 if asin != right else (1.0 if wanted.items() <= options.items() else 0.5)


def page(instruction: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html>
  <head>
    <title>never shown</title>
    <script>var never = "shown";</script>
  </head>
  <body>
    <!-- nor this -->
    <div id="instruction-text" class="text-center">
      <h4>Instruction: <br>{escape(instruction)}</h4>
    </div>
    {body}
  </body>
</html>"""


def button(text: str, action: str, kind: str = "btn") -> str:
    inner = f'<button type="submit" class="{kind}">{escape(text)}</button>'
    return f'<form method="post" action="{action}">{inner}</form>'


def first_page(base: str, instruction: str) -> str:
    return page(
        instruction,
        f"""<h2>WebShop</h2>
    <form role="form" method="post" action="{base}">
      <input id="search_input" type="text" name="search_query" placeholder="Search..." required/>
      <span><button class="btn" type="submit"><i class="glyphicon"></i>Search</button></span>
    </form>""",
    )


def results_page(base: str, home: str, instruction: str, products: list[Product]) -> str:
    rows = "".join(
        f"""<ul class="list-group"><h4 class="product-asin">
        <a class="product-link" href="{base}/{one.asin}">{one.asin}</a></h5>
        <h4 class="product-title">{escape(one.title)}</h5>
        <h5 class="product-price">{one.price}</h6></ul>"""
        for one in products
    )
    head = f"<h3>Page 1 (Total results: {len(products)})</h3>"
    return page(
        instruction, f"{button('Back to Search', home)}{head}{button('Next >', base)}{rows}"
    )


def item_page(
    base: str,
    home: str,
    back: str,
    done: str,
    instruction: str,
    one: Product,
    chosen: dict[str, str],
) -> str:
    groups = ""
    for name, values in one.options.items():
        groups += f"<h4>{name}</h4>"
        for number, value in enumerate(values):
            url = f"{base}/{quote(repr({**chosen, name: value}))}"
            groups += (
                f'<input type="radio" id="radio_{name}{number}" name="{name}" data-url="{url}">'
                f'<label for="radio_{name}{number}">{value}</label>'
            )
    buttons = "".join(button(name, f"{base}/sub/{name}") for name in SUBPAGES)
    buttons += button("Buy Now", done, "btn btn-lg purchase")
    body = (
        f"{button('Back to Search', home)}{button('< Prev', back)}{groups}"
        f"<h2>{escape(one.title)}</h2><h4>Price: {one.price}</h4>{buttons}"
    )
    return page(instruction, body)


def sub_page(home: str, back: str, instruction: str, text: str) -> str:
    buttons = button("Back to Search", home) + button("< Prev", back)
    return page(instruction, f'{buttons}<p class="product-info">{text}</p>')


def done_page(reward: float) -> str:
    return f"""<html><body><h1>Thank you for shopping with us!</h1>
    <div style="display:none"><h4 id="goal-asin">asin<pre>secret</pre></p></div>
    <h3   id="reward">Your score (min 0.0, max 1.0)<pre>{reward}</pre></h3>
    <h4 hidden>Reward Details <div id="reward_info"><pre>secret</pre></div></h4></body></html>"""
