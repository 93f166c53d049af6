# tools: page
seen = []

def visit(name, depth):
    if name in seen or depth > 2:
        return
    seen.append(name)
    for link in page(name=name)["links"]:
        visit(link, depth + 1)

visit("harbour", 0)
print(seen)
