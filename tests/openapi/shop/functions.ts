// The shop by the functions of @hey-api/openapi-ts.

import { client } from "./sdk/client.gen";
import { getOrdersByIdEvents, patchUsersById, usersCreate, type Profile } from "./sdk";

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
