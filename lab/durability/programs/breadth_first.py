# tools: page, put
queue, seen = ["harbour"], []
while queue and len(seen) < 4:
    name = queue.pop(0)
    if name in seen:
        continue
    seen.append(name)
    queue += page(name=name)["links"]
put(name="seen", value=seen)
print(seen)
