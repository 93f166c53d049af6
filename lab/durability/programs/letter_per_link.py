# tools: page, send
start = page(name="harbour")
for link in start["links"]:
    send(to=link, text=f"from {start['name']}")
print(len(start["links"]))
