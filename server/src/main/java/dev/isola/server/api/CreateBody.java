package dev.isola.server.api;

import dev.isola.document.RequestFields;
import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.DocumentShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.OtherNames;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.Violation;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The body of a create request.
 *
 * @param defaultProvider the provider of requests that name none
 */
record CreateBody(ServerContext context, String defaultProvider) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Fields of a create request that are not part of the spec. */
  private static final Shape.Obj PLACEMENT =
      new Shape.Obj(
          Field.optional(
              "name",
              Shapes.SANDBOX_NAME,
              "name of the sandbox; unique until the sandbox is destroyed"),
          Field.optional("provider", Shapes.WORD, "name of a provider, or auto").example("auto"),
          Field.optional("template", Shapes.WORD, "name of a template; alternative to image"),
          Field.optional(
              "strictNoFallback", Shapes.FLAG, "fail instead of falling back to another provider"),
          Field.optional(
              "strict_no_fallback",
              Shapes.FLAG,
              "the same in the spelling of the local_microvm contract"),
          Field.optional("region", Shapes.WORD, "only providers in this region"),
          Field.optional(
              "idleTimeoutSeconds", Shapes.SECONDS, "idle time after which the sandbox ends"));

  private static final Shape.Obj REQUEST =
      PLACEMENT
          .and(FieldShapes.request(RequestFields.REQUEST).fields().toArray(Field[]::new))
          .named(RequestFields.REQUEST.requestName());

  private static final List<String> FIELDS = REQUEST.fields().stream().map(Field::name).toList();

  static final Body SHAPE = new Body.Json(new DocumentShape(REQUEST), false);

  private static boolean isStrict(Map<String, Object> placement) {
    return Boolean.TRUE.equals(placement.get("strictNoFallback"))
        || Boolean.TRUE.equals(placement.get("strict_no_fallback"));
  }

  /** Returns the request, without what the key of the client permits and demands. */
  SandboxRequest read(Exchange exchange) {
    Map<String, Object> document = new LinkedHashMap<>(exchange.body());
    Map<String, Object> placement = new LinkedHashMap<>();
    for (Field field : PLACEMENT.fields()) {
      Object value = document.remove(field.name());
      if (value != null) {
        placement.put(field.name(), value);
      }
    }
    List<Violation> problems = new ArrayList<>();
    PLACEMENT.check("", placement, problems);
    problems.addAll(OtherNames.violations(document.keySet(), FIELDS));
    if (!problems.isEmpty()) {
      throw Query.invalid(problems);
    }
    CreateRequest parsed = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
    String provider =
        placement.get("provider") instanceof String named
            ? named
            : context.engine().snapshots().requiredProvider(parsed.spec()).orElse(defaultProvider);
    CreateRequest request = withDefaultTtl(parsed).withProvider(ProviderNames.canonical(provider));
    if (isStrict(placement)) {
      request = request.strict();
    }
    if (placement.get("region") instanceof String region) {
      request = request.inRegion(region);
    }
    if (placement.get("template") instanceof String template) {
      request = request.withTemplate(SpecDocument.template(template, document));
    }
    if (placement.get("idleTimeoutSeconds") instanceof Number seconds) {
      request = request.withIdleTimeout(Duration.ofSeconds(seconds.longValue()));
    }
    SandboxRequest sandboxRequest = SandboxRequest.of(request);
    if (parsed.lifecycle().ttl().isEmpty()) {
      sandboxRequest = sandboxRequest.withDefaultTtl();
    }
    if (placement.get("name") instanceof String name) {
      sandboxRequest = sandboxRequest.withName(name);
    }
    if (document.containsKey("id") || document.containsKey("runtimeId")) {
      sandboxRequest = sandboxRequest.withFixedId();
    }
    return sandboxRequest;
  }

  /** Sets the default lifetime if the request has none. */
  private CreateRequest withDefaultTtl(CreateRequest request) {
    return context
        .engine()
        .defaultTtl()
        .filter(any -> request.lifecycle().ttl().isEmpty())
        .map(request::withTtl)
        .orElse(request);
  }
}
