# tools: page, put
for name in ["mill", "inn", "tower"]:
    if page(name=name)["price"] > 1000:
        put(name="dear", value=name)
        break
else:
    put(name="dear", value="none")
print("looked")
