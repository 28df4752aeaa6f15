document.getElementById("loaded").textContent = "The script has run.";
