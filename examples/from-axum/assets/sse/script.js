const list = document.getElementById("events");
new EventSource("/sse").onmessage = (event) => {
  const item = document.createElement("li");
  item.textContent = event.data;
  list.append(item);
};
