const [form, text, list] = ["form", "text", "messages"].map((id) => document.getElementById(id));
const socket = new WebSocket(`wss://${location.host}/ws`);
form.onsubmit = (event) => {
  event.preventDefault();
  socket.send(text.value);
  text.value = "";
};
socket.onmessage = ({ data }) => {
  const item = document.createElement("li");
  item.textContent = data;
  list.append(item);
};
