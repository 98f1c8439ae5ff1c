package dev.isola.compat.e2b.create;

import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.compat.e2b.model.Marks;
import dev.isola.compat.e2b.template.Template;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.lifecycle.Order;
import dev.isola.server.auth.PublicPorts;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a client of E2B wants, as an order. */
public record Wanted(E2bSettings settings) {
  /** What these clients take for granted: where there is a choice, it is of those who can. */
  private static final Requirements EXPECTED =
      Requirements.capabilities(
          Terminals.class, Watching.class, PortDialing.class, Attaching.class);

  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * @param usual how many seconds it lives when the body does not say
   */
  public Order order(Body body, Template template, long usual) {
    Body network = body.object("network").orElse(new Body(Map.of()));
    Network reached = reached(network, body);
    Map<String, String> labels = new LinkedHashMap<>(metadata(body));
    labels.put(Marks.TEMPLATE, template.id());
    if (reached.mode().filter(mode -> mode != NetworkMode.NONE).isPresent()) {
      labels.put(Marks.INTERNET, "true");
    }
    labels.put(
        network.flag("allowPublicTraffic").orElse(true) ? PublicPorts.EVERY : Marks.TRAFFIC,
        "true");
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .env("E2B_SANDBOX", "true")
            .env(template.env())
            .env(body.map("envVars"))
            .limits(limits(template))
            .network(reached);
    if (template.image().isPresent()) {
      spec.image(template.image().get())
          .user(template.user())
          .cwd(template.folder())
          .workspaceMount(Template.HOME);
    }
    for (Body mount : body.objects("volumeMounts")) {
      spec.volume(
          new Volume(Volume.Type.VOLUME, mount.needed("name"), mount.needed("path"), false));
    }
    CreateRequest request =
        CreateRequest.of(spec.build(), ProviderNames.plain(settings.provider()))
            .with(lifecycle(body, usual));
    boolean auto = request.placement().provider().equals(ProviderPreference.AUTO);
    return Order.of(auto ? request.requiring(EXPECTED) : request)
        .withLabels(labels)
        .withStartup(TemplateStartup.of(template, request.spec()));
  }

  private static Lifecycle lifecycle(Body body, long usual) {
    ExpiryAction paused =
        body.flag("autoPauseMemory").orElse(true) ? ExpiryAction.PAUSE : ExpiryAction.STOP;
    return Lifecycle.ttl(seconds(body, "timeout", usual))
        .withWhenExpired(body.flag("autoPause").orElse(false) ? paused : ExpiryAction.DESTROY)
        .withAutoResume(
            body.object("autoResume").flatMap(one -> one.flag("enabled")).orElse(false));
  }

  private static ResourceLimits limits(Template template) {
    ResourceLimits limits = ResourceLimits.DEFAULT;
    limits = template.cpus().map(limits::withCpu).orElse(limits);
    return template.memoryMb().map(limits::withMemoryMb).orElse(limits);
  }

  private static Map<String, String> metadata(Body body) {
    Map<String, String> metadata = body.map("metadata");
    metadata
        .keySet()
        .forEach(
            name -> {
              if (name.startsWith(Marks.OURS)) {
                throw Body.wrong("metadata", "has a name that begins with " + Marks.OURS);
              }
            });
    return metadata;
  }

  /**
   * Returns the network that keeps what a client wants to be reached.
   *
   * @param rules the part of the body that has them
   */
  public Network reached(Body rules, Body body) {
    boolean access = body.flag("allow_internet_access").orElse(true);
    return Egress.of(rules, access).network(settings.network());
  }

  public static Duration seconds(Body body, String field, long usual) {
    long seconds = body.whole(field).orElse(usual);
    if (seconds < 0 || seconds > Duration.ofDays(3650).toSeconds()) {
      throw Body.wrong(field, "must be seconds from 0 to 3650 days");
    }
    return Duration.ofSeconds(Math.max(1, seconds));
  }
}
