const list = document.getElementById("messages");
const socket = new WebSocket(`ws://${location.host}/ws`);
socket.onopen = () => socket.send("Hello from the page");
socket.onmessage = ({ data }) => {
  const item = document.createElement("li");
  item.textContent = data;
  list.append(item);
};
