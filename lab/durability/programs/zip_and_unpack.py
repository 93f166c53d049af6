# tools: pay
names, amounts = ["ada", "bob", "cyd"], [5, 6, 7]
left = [pay(to=name, amount=amount) for name, amount in zip(names, amounts)]
first, *rest = left
print(first, rest)
