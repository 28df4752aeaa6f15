// The shop by the types of openapi-typescript and the client openapi-fetch.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type Profile = components["schemas"]["Profile"];

const shop = createClient<paths>({ baseUrl: "http://127.0.0.1:3000" });

export async function signUp(): Promise<Profile | string[]> {
  const { data, error, response } = await shop.POST("/users", {
    body: { name: "Ada", email: "ada@example.org", password: "correct horse" },
  });
  if (data) return data;
  if (response.status !== 400) throw new Error(error.error);
  const { errors = [] } = (error as components["schemas"]["ValidationError"]).details ?? {};
  return errors.map(({ field, rule }) => `${field}: ${rule}`);
}

export async function rename(id: number, name: string): Promise<"customer" | "clerk" | "admin"> {
  const path = { id };
  const { data, error } = await shop.PATCH("/users/{id}", { params: { path }, body: { name } });
  if (!data) throw new Error(error.error);
  return data.role;
}

export async function pages(): Promise<number> {
  const query = { q: "tea", page: 2 };
  const { data } = await shop.GET("/products/search", { params: { query } });
  return data?.products.length ?? 0;
}

export async function cheapest(): Promise<string[]> {
  const query = { category: ["tea" as const], "price_cents[lte]": 500, sort: "price_cents" };
  const { data } = await shop.GET("/products", { params: { query } });
  return data?.items.map(({ name }) => name) ?? [];
}

// A product has another price only if nobody else has changed it since it was read.
export async function reprice(id: number, price_cents: number): Promise<boolean> {
  const path = { id };
  const read = await shop.GET("/products/{id}", { params: { path } });
  const tag = read.response.headers.get("etag") ?? "";
  const { data, response } = await shop.PATCH("/products/{id}", {
    params: { path, header: { "If-Match": tag } },
    body: { price_cents },
    headers: { "content-type": "application/merge-patch+json" },
  });
  if (!data && response.status !== 412) throw new Error(response.statusText);
  return response.ok;
}
