# tools: page, put
import math

words = [page(name=name)["words"] for name in ["harbour", "mill", "tower"]]
mean = sum(words) / len(words)
put(name="deviation", value=round(math.sqrt(sum((n - mean) ** 2 for n in words) / 3), 6))
print(round(mean, 3))
