// Uses that must not compile: each comment is an error where nothing is wrong.

import createClient from "openapi-fetch";
import type { paths } from "./schema";
import { eventsReport, scansCreate } from "./sdk";

const library = createClient<paths>();

export const wrong = [
  // @ts-expect-error no payment has this member
  library.POST("/books/{id}:lend", { params: { path: { id: 7 } }, body: { days: 7, payment: { cash: 1 } } }),
  // @ts-expect-error no book was eaten
  eventsReport({ body: "eaten" }),
  // @ts-expect-error the file is missing
  scansCreate({ body: { title: "Tea" } }),
];
