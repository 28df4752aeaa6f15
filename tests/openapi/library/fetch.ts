// The library by the types of openapi-typescript and the client openapi-fetch.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type Payment = components["schemas"]["Payment"];

const library = createClient<paths>({ headers: { Authorization: "Bearer a.b.c" } });

export async function pay(payment: Payment): Promise<number> {
  const params = { path: { id: 7 } };
  const body = { days: 7, payment };
  const { response } = await library.POST("/books/{id}:lend", { params, body });
  return response.status;
}

export async function find(): Promise<string[]> {
  const params = { query: { ids: [1, 2], filter: { state: "open" as const } } };
  const { data } = await library.GET("/books", { params });
  return data?.map(({ title }) => title) ?? [];
}
