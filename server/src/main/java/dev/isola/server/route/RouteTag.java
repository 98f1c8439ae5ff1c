package dev.isola.server.route;

import java.util.List;
import java.util.Locale;

/** Groups of operations in the OpenAPI document; the path of a route determines its group. */
enum RouteTag {
  SYSTEM("health, metrics and the description of this API"),
  SANDBOXES("create, describe, pause and destroy sandboxes"),
  EXECUTIONS("run commands and follow their output"),
  FILES("read, write and watch the files of a sandbox"),
  PORTS("access the ports of a sandbox"),
  EGRESS("which other hosts a sandbox reaches"),
  TOKENS("credentials for one sandbox"),
  SNAPSHOTS("snapshots and forks of sandboxes"),
  VOLUMES("directories that outlive sandboxes"),
  TEMPLATES("images that are built from recipes"),
  IMAGES("root file systems of sandboxes"),
  PROVIDERS("backends, their health and capacity"),
  EVENTS("the history of sandboxes"),
  KEYS("API keys, the sessions of browsers and the audit log");

  private static final List<String> SANDBOX = List.of("api", "v1", "sandboxes", "{id}");

  private final String summary;

  RouteTag(String summary) {
    this.summary = summary;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  String summary() {
    return summary;
  }

  static RouteTag of(Route route) {
    List<String> parts = List.of(route.template().substring(1).split("/"));
    if (parts.size() > SANDBOX.size() && parts.subList(0, SANDBOX.size()).equals(SANDBOX)) {
      return switch (parts.get(SANDBOX.size())) {
        case "exec", "executions" -> EXECUTIONS;
        case "files", "watch" -> FILES;
        case "ports" -> PORTS;
        case "egress" -> EGRESS;
        case "tokens" -> TOKENS;
        case "snapshots", "fork" -> SNAPSHOTS;
        default -> SANDBOXES;
      };
    }
    return switch (parts.size() > 2 && parts.get(1).equals("v1") ? parts.get(2) : "") {
      case "sandboxes" -> SANDBOXES;
      case "snapshots", "gc" -> SNAPSHOTS;
      case "volumes" -> VOLUMES;
      case "templates" -> TEMPLATES;
      case "images" -> IMAGES;
      case "providers", "agent", "pool", "selection" -> PROVIDERS;
      case "events" -> EVENTS;
      case "egress" -> EGRESS;
      case "keys", "session", "audit" -> KEYS;
      default -> SYSTEM;
    };
  }
}
