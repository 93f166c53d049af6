# tools: page, pay
import re

amounts = [int(found) for found in re.findall(r"[0-9]+", page(name="inn")["text"])]
for amount in amounts:
    pay(to="inn", amount=amount)
print(amounts)
