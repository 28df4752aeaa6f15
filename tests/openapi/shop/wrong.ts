// Uses that must not compile: each comment is an error where nothing is wrong.

import createClient from "openapi-fetch";
import type { paths } from "./schema";
import { getProducts, patchUsersById, usersCreate, type Profile } from "./sdk";

const shop = createClient<paths>();
const profile = {} as Profile;

export const wrong = [
  // @ts-expect-error a required field is missing
  shop.POST("/users", { body: { name: "Ada", email: "ada@example.org" } }),
  // @ts-expect-error a required field is missing
  usersCreate({ body: { name: "Ada", email: "ada@example.org" } }),
  // @ts-expect-error a field has another type
  shop.PATCH("/users/{id}", { params: { path: { id: 1 } }, body: { name: 1 } }),
  // @ts-expect-error the body is missing
  patchUsersById({ path: { id: 1 } }),
  // @ts-expect-error a list has no such filter
  getProducts({ query: { colour: "red" } }),
  // @ts-expect-error a category is one of three
  getProducts({ query: { category: ["shoes"] } }),
  // @ts-expect-error the shop itself gives ids
  shop.POST("/products", { body: { id: 1, name: "Mug", category: "crockery", price_cents: 7 } }),
  // @ts-expect-error there is no such path
  shop.GET("/user"),
  // @ts-expect-error there is no such method
  shop.DELETE("/users"),
  // @ts-expect-error a reply has no such field
  profile.password,
  // @ts-expect-error a role is one of three
  profile.role === "owner",
];
