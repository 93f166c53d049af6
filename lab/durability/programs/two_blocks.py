# tools: page, send
one = page(name="harbour")
links = one["links"]
print(links)
# next block
for link in links[:2]:
    send(to=link, text=one["name"])
print("sent", len(links[:2]))
