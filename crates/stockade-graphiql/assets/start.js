"use strict";
{
  // The page and the operations have one address.
  const address = location.pathname;

  const isSubscription = (document, name) => {
    const operations = document?.definitions.filter((it) => it.kind === "OperationDefinition") ?? [];
    const chosen = operations.find((it) => it.name?.value === name) ?? operations[0];
    return chosen?.operation === "subscription";
  };

  const send = (params, options, accept, signal) =>
    fetch(address, {
      method: "POST",
      headers: { ...options?.headers, accept, "content-type": "application/json" },
      body: JSON.stringify(params),
      signal,
    });

  const once = async (params, options) => {
    const answer = await send(params, options, "application/graphql-response+json, application/json");
    return answer.json();
  };

  // Gives each event of a text/event-stream to the observer, until it is complete.
  const read = async (answer, observer) => {
    if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      observer.next(await answer.json());
      return;
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error("The connection has ended before the subscription");
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        const fields = event.split("\n").map((line) => line.split(/: ?(.*)/s, 2));
        const all = (name) => fields.filter((it) => it[0] === name).map((it) => it[1]).join("\n");
        if (all("event") === "next") observer.next(JSON.parse(all("data")));
        if (all("event") === "complete") return;
      }
    }
  };

  const subscription = (params, options) => ({
    subscribe(observer) {
      const controller = new AbortController();
      send(params, options, "text/event-stream", controller.signal)
        .then((answer) => read(answer, observer))
        .then(() => observer.complete())
        .catch((error) => controller.signal.aborted || observer.error(error))
        // Where the server has more to say, nobody listens to it.
        .finally(() => controller.abort());
      return { unsubscribe: () => controller.abort() };
    },
  });

  const fetcher = (params, options) =>
    isSubscription(options?.documentAST, params.operationName)
      ? subscription(params, options)
      : once(params, options);

  const root = ReactDOM.createRoot(document.getElementById("graphiql"));
  root.render(React.createElement(GraphiQL, { fetcher }));
}
