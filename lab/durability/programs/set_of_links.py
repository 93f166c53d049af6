# tools: page, send
links = set()
for name in ["harbour", "mill"]:
    links |= set(page(name=name)["links"])
for link in sorted(links):
    send(to=link, text="you are linked")
print(len(links))
