# tools: page, put
report = {"places": [], "totals": {"words": 0, "price": 0}}
for name in ["mill", "inn"]:
    one = page(name=name)
    report["places"].append({"name": name, "first link": (one["links"] or [None])[0]})
    report["totals"]["words"] += one["words"]
    report["totals"]["price"] += one["price"]
put(name="report", value=report)
print(report["totals"], report["places"][-1])
