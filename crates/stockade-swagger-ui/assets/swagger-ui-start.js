"use strict";
const place = document.getElementById("swagger-ui");
SwaggerUIBundle({
  url: new URL(place.dataset.document, location.href).href,
  domNode: place,
  deepLinking: true,
  // The default asks another host.
  validatorUrl: null,
});
