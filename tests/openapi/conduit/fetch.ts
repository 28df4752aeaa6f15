// Conduit by the types of openapi-typescript and the client openapi-fetch.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type Article = components["schemas"]["Article"];

const conduit = createClient<paths>({ headers: { Authorization: "Token a.b.c" } });

export async function publish(title: string): Promise<Article> {
  const article = { title, description: "d", body: "b", tagList: ["first"] };
  const { data, response } = await conduit.POST("/api/articles", { body: { article } });
  if (!data) throw new Error(`${response.status}`);
  return data.article;
}

export async function biography(username: string): Promise<string | null> {
  const params = { path: { username } };
  const { data } = await conduit.GET("/api/profiles/{username}", { params });
  return data ? data.profile.bio : null;
}
