// The shop by the functions of @hey-api/openapi-ts.

import { client } from "./sdk/client.gen";
import {
  getOrdersByIdEvents,
  getProducts,
  patchUsersById,
  putProductsById,
  usersCreate,
  type Product,
  type Profile,
} from "./sdk";

client.setConfig({ baseUrl: "http://127.0.0.1:3000", auth: () => "a token" });

export async function signUp(): Promise<Profile> {
  const body = { name: "Ada", email: "ada@example.org", password: "correct horse" };
  const { data, error } = await usersCreate({ body });
  if (!data) throw new Error(error.error);
  return data;
}

export async function rename(id: number, name: string): Promise<"customer" | "clerk" | "admin"> {
  const { data } = await patchUsersById({ path: { id }, body: { name }, throwOnError: true });
  return data.role;
}

export async function follow(id: number): Promise<void> {
  const { stream } = await getOrdersByIdEvents({ path: { id } });
  for await (const status of stream) console.log(status);
}

export async function catalogue(): Promise<Product[]> {
  const query = { category: ["tea" as const], sort: "-price_cents", limit: 100 };
  const { data } = await getProducts({ query, throwOnError: true });
  return data.items;
}

export async function rename_product(product: Product, tag: string): Promise<Product> {
  const { id, name, category, price_cents } = product;
  const body = { name: `${name} (new)`, category, price_cents };
  const headers = { "If-Match": tag };
  const { data } = await putProductsById({ path: { id }, body, headers, throwOnError: true });
  if (!data) throw new Error("the answer has no product");
  return data;
}
