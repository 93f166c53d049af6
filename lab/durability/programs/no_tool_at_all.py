# tools: 
numbers = [n * n for n in range(10) if n % 3]
print(sum(numbers), numbers[-1])
