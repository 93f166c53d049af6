# tools: page, put
found = []
for name in ["harbour", "nowhere", "mill"]:
    try:
        found.append(page(name=name)["words"])
    except Exception:
        found.append(None)
put(name="found", value=found)
print(found)
