package dev.isola.compat.e2b.create;

import dev.isola.compat.e2b.model.E2bLabels;
import dev.isola.compat.e2b.model.E2bNetworkConfig;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.compat.e2b.template.E2bTemplate;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.server.access.GuestHostHeader;
import dev.isola.server.auth.PublicPorts;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Maps create requests of E2B's clients to the engine. */
public record CreateRequestMapper(E2bSettings settings) {
  /**
   * Capabilities that E2B's clients rely on. Automatic provider selection is limited to providers
   * that have them.
   */
  private static final Requirements REQUIRED_CAPABILITIES =
      Requirements.capabilities(
          Terminals.class, Watching.class, PortDialing.class, Attaching.class);

  private static final SecureRandom RANDOM = new SecureRandom();

  /** Maps a create request. */
  public SandboxRequest toSandboxRequest(
      E2bRequestBody body, E2bTemplate template, CreateVersion version) {
    if (body.object("iam").filter(iam -> !iam.fields().isEmpty()).isPresent()) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "identity tokens (iam) are not supported",
              "store the token as a secret")
          .exception();
    }
    E2bRequestBody network = body.object("network").orElse(new E2bRequestBody(Map.of()));
    Network resolved = network(network, body);
    Map<String, String> labels = new LinkedHashMap<>(metadata(body));
    labels.put(E2bLabels.TEMPLATE, template.id());
    if (reachesInternet(resolved)) {
      labels.put(E2bLabels.INTERNET, "true");
    }
    labels.put(
        network.flag("allowPublicTraffic").orElse(true)
            ? PublicPorts.ALL_PORTS_LABEL
            : E2bLabels.PRIVATE_TRAFFIC,
        "true");
    guestHost(network).ifPresent(host -> labels.put(GuestHostHeader.LABEL, host));
    E2bNetworkConfig.of(network, resolved.isFiltered()).addTo(labels);
    SandboxSpec.Builder spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .env("E2B_SANDBOX", "true")
            .env(template.env())
            .env(body.map("envVars"))
            .limits(limits(template))
            .network(resolved);
    if (template.image().isPresent()) {
      spec.image(template.image().get())
          .user(template.user())
          .cwd(template.folder())
          .workspaceMount(E2bTemplate.HOME);
    }
    for (E2bRequestBody mount : body.objects("volumeMounts")) {
      spec.volume(
          new VolumeMount(
              VolumeMount.Type.VOLUME, mount.required("name"), mount.required("path"), false));
    }
    CreateRequest request =
        CreateRequest.of(spec.build(), ProviderNames.canonical(settings.provider()))
            .with(lifecycle(body, version.defaultSeconds()));
    boolean auto = request.placement().provider().equals(ProviderPreference.AUTO);
    SandboxRequest mapped =
        SandboxRequest.of(auto ? request.requiring(REQUIRED_CAPABILITIES) : request)
            .withStartup(TemplateStartup.of(template, request.spec()));
    if (isInsecure(body, version)) {
      labels.put(E2bLabels.INSECURE, request.spec().id().value());
      return mapped.withLabels(labels).withFixedId();
    }
    return mapped.withLabels(labels);
  }

  private static boolean reachesInternet(Network network) {
    return network.isFiltered()
        ? !network.egress().rules().isEmpty()
        : network.mode().filter(mode -> mode != NetworkMode.NONE).isPresent();
  }

  /** Returns whether the client requests a sandbox that needs no token, and may have one. */
  private boolean isInsecure(E2bRequestBody body, CreateVersion version) {
    boolean secure = body.flag("secure").orElse(false);
    return settings.allowInsecure() && version == CreateVersion.V1 && !secure;
  }

  /** Returns the Host header that processes in the sandbox receive. */
  private static Optional<String> guestHost(E2bRequestBody network) {
    Optional<String> mask = network.text("maskRequestHost").filter(text -> !text.isEmpty());
    if (mask.filter(text -> !GuestHostHeader.isValid(text)).isPresent()) {
      throw E2bRequestBody.invalidField(
          "network.maskRequestHost",
          "must be a host name of at most 255 letters, digits, dots and dashes, which may have a"
              + " port and contain "
              + GuestHostHeader.PORT);
    }
    return mask;
  }

  private static Lifecycle lifecycle(E2bRequestBody body, long defaultSeconds) {
    ExpiryAction pauseAction =
        body.flag("autoPauseMemory").orElse(true) ? ExpiryAction.PAUSE : ExpiryAction.STOP;
    return Lifecycle.ttl(seconds(body, "timeout", defaultSeconds))
        .withWhenExpired(body.flag("autoPause").orElse(false) ? pauseAction : ExpiryAction.DESTROY)
        .withAutoResume(
            body.object("autoResume").flatMap(one -> one.flag("enabled")).orElse(false));
  }

  private static ResourceLimits limits(E2bTemplate template) {
    ResourceLimits limits = ResourceLimits.DEFAULT;
    limits = template.cpus().map(limits::withCpu).orElse(limits);
    return template.memoryMb().map(limits::withMemoryMb).orElse(limits);
  }

  private static Map<String, String> metadata(E2bRequestBody body) {
    Map<String, String> metadata = body.map("metadata");
    metadata
        .keySet()
        .forEach(
            name -> {
              if (name.startsWith(E2bLabels.RESERVED_PREFIX)) {
                throw E2bRequestBody.invalidField(
                    "metadata",
                    "must not contain a name with the reserved prefix "
                        + E2bLabels.RESERVED_PREFIX);
              }
            });
    return metadata;
  }

  /**
   * Returns whether the rules of a request leave unchanged what a running sandbox can reach.
   *
   * @param offlineByDefault whether a sandbox without a network mode has no network
   */
  public boolean keepsNetwork(E2bRequestBody rules, Network current, boolean offlineByDefault) {
    Optional<NetworkMode> unset =
        offlineByDefault ? Optional.of(NetworkMode.NONE) : Optional.empty();
    return network(rules, rules).mode().or(() -> unset).equals(current.mode().or(() -> unset));
  }

  /**
   * Returns the settings that enforce the rules of a request in a running sandbox with a filtered
   * network. Rules that the request omits are gone; its secrets stay.
   */
  public Egress egress(E2bRequestBody rules, Network current) {
    Egress read = E2bEgress.of(rules, rules.flag("allow_internet_access").orElse(true)).egress();
    return new Egress(
        read.fallback(),
        read.rules(),
        List.of(),
        current.egress().secrets(),
        current.egress().bypass(),
        current.egress().logConnections(),
        current.egress().limits());
  }

  /**
   * Returns the network that enforces the egress rules of a request.
   *
   * @param rules the part of the body that holds the rules
   */
  private Network network(E2bRequestBody rules, E2bRequestBody body) {
    boolean access = body.flag("allow_internet_access").orElse(true);
    return E2bEgress.of(rules, access).network(settings.network());
  }

  public static Duration seconds(E2bRequestBody body, String field, long defaultSeconds) {
    long seconds = body.wholeNumber(field).orElse(defaultSeconds);
    if (seconds < 0 || seconds > Duration.ofDays(3650).toSeconds()) {
      throw E2bRequestBody.invalidField(field, "must be a number of seconds from 0 to 3650 days");
    }
    return Duration.ofSeconds(Math.max(1, seconds));
  }
}
