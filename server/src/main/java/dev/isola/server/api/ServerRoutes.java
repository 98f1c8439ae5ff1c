package dev.isola.server.api;

import dev.isola.engine.api.ServerView;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.peer.PeerServers;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Describes the servers that share the ledger. */
record ServerRoutes(ServerContext context) {
  private static final int MAX_SERVERS = 10_000;

  private static final Shape.Obj SERVER =
      new Shape.Obj(
              Field.required("name", Shapes.WORD, "name of the server, which its data folder has")
                  .example("north-1a2b3c4d"),
              Field.required("url", Shapes.TEXT, "where the other servers reach it")
                  .example("http://10.0.0.1:7777"),
              Field.required("version", Shapes.WORD, "version of Isola that it runs")
                  .example("1.0.0"),
              Field.required("startedAt", Shapes.TIME, "start time"),
              Field.required(
                  "alive",
                  Shapes.FLAG,
                  "whether its lease is valid; others take over the sandboxes of a server whose"
                      + " lease has ended"))
          .named("Server");

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/servers",
                "listServers",
                "Lists the servers that share the ledger. Empty if this server has its ledger to"
                    + " itself.")
            .needs(Scope.ADMIN)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.optional("self", Shapes.WORD, "name of the server that answers"),
                            Field.required(
                                "servers", new Shape.ListOf(SERVER, MAX_SERVERS), "by name"))
                        .named("ServerList")))
            .handledBy(this::list));
  }

  private void list(Exchange exchange) throws IOException {
    Optional<PeerServers> others = context.components().peers();
    Map<String, Object> json = new LinkedHashMap<>();
    others.ifPresent(one -> json.put("self", one.self()));
    json.put(
        "servers",
        others.map(PeerServers::all).orElse(List.of()).stream().map(ServerRoutes::json).toList());
    exchange.json(200, json);
  }

  private static Map<String, Object> json(ServerView server) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", server.name());
    json.put("url", server.url().toString());
    json.put("version", server.version());
    json.put("startedAt", server.startedAt().toString());
    json.put("alive", server.alive());
    return json;
  }
}
