package dev.isola.engine.selection;

import static dev.isola.engine.api.ProviderNames.MICROVM;

import dev.isola.document.field.Suggestion;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Rejection;
import dev.isola.engine.api.Rejection.Kind;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.selection.ProviderRanking.RankedProvider;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecFeature;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Selects providers for a request. A pure function of request, statuses and policy; every provider
 * is either a candidate or rejected with a reason.
 */
public final class ProviderSelector {
  private final SelectionPolicy policy;
  private final Map<String, ProviderInstance> instances;

  /**
   * @param instances the declared instances, by name; a provider without one is judged by what it
   *     reports
   */
  public ProviderSelector(SelectionPolicy policy, Map<String, ProviderInstance> instances) {
    this.policy = policy;
    this.instances = Map.copyOf(instances);
  }

  private ProviderInstance instance(String name) {
    ProviderInstance known = instances.get(name);
    return known == null ? ProviderInstance.ofType(name, ProviderProfile.UNKNOWN) : known;
  }

  private ProviderProfile profile(ProviderStatus status) {
    return instance(status.name()).selectionProfile(status.info());
  }

  /**
   * Returns the candidates for a request.
   *
   * @throws dev.isola.spi.error.NotFound if the request names a provider that has no status
   */
  public Selection select(CreateRequest request, Collection<ProviderStatus> statuses) {
    List<ProviderInfo> candidates = new ArrayList<>();
    List<Rejection> rejections = new ArrayList<>();
    List<ProviderStatus> all =
        statuses.stream().sorted(Comparator.comparing(ProviderStatus::name)).toList();
    if (request.placement().provider() instanceof ProviderPreference.Named(String named)
        && all.stream().noneMatch(one -> one.name().equals(named))) {
      throw ProviderNames.unknown(named, all.stream().map(ProviderStatus::name).toList());
    }
    refuseUnknownRegion(request);
    Map<String, RankedProvider> ranked = new HashMap<>();
    for (ProviderStatus status : all) {
      boolean degraded = status.health() instanceof Health.Degraded;
      ranked.put(status.name(), new RankedProvider(status.name(), profile(status), degraded));
      Optional<Rejection> rejection = rejection(request, status);
      rejection.ifPresentOrElse(rejections::add, () -> candidates.add(status.info().orElseThrow()));
    }
    candidates.sort(
        Comparator.comparing(
            info -> Objects.requireNonNull(ranked.get(info.name())), order(request)));
    boolean explicit = request.placement().provider() instanceof ProviderPreference.Named;
    return new Selection(
        candidates,
        rejections,
        explicit,
        advantages(request, candidates, ranked),
        explicit ? List.of() : interchangeable(request, candidates, ranked));
  }

  /** Returns the candidates that only their names rank after the best one, and the best one. */
  private List<String> interchangeable(
      CreateRequest request, List<ProviderInfo> candidates, Map<String, RankedProvider> ranked) {
    Comparator<RankedProvider> order =
        ProviderRanking.exceptByName(policy, request.placement().workload());
    return candidates.stream()
        .map(info -> Objects.requireNonNull(ranked.get(info.name())))
        .takeWhile(
            one ->
                order.compare(one, Objects.requireNonNull(ranked.get(candidates.getFirst().name())))
                    == 0)
        .map(RankedProvider::name)
        .toList();
  }

  private Map<String, String> advantages(
      CreateRequest request, List<ProviderInfo> candidates, Map<String, RankedProvider> ranked) {
    Map<String, String> advantages = new HashMap<>();
    for (ProviderInfo other :
        candidates.subList(Math.min(1, candidates.size()), candidates.size())) {
      RankedProvider best = Objects.requireNonNull(ranked.get(candidates.getFirst().name()));
      boolean named =
          request.placement().provider() instanceof ProviderPreference.Named(String name)
              && name.equals(best.name());
      advantages.put(
          other.name(),
          named
              ? "is named by the request"
              : ProviderRanking.advantage(
                  policy,
                  request.placement().workload(),
                  best,
                  Objects.requireNonNull(ranked.get(other.name()))));
    }
    return advantages;
  }

  /**
   * Returns the provider names in the order in which to probe them: if one is healthy and suitable,
   * no later one would be chosen.
   */
  public List<String> order(CreateRequest request, Map<String, ProviderProfile> profiles) {
    return profiles.entrySet().stream()
        .map(one -> new RankedProvider(one.getKey(), one.getValue(), false))
        .sorted(order(request))
        .map(RankedProvider::name)
        .toList();
  }

  private Comparator<RankedProvider> order(CreateRequest request) {
    Comparator<RankedProvider> best = ProviderRanking.of(policy, request.placement().workload());
    return request.placement().provider() instanceof ProviderPreference.Named(String named)
        ? Comparator.comparing((RankedProvider one) -> !one.name().equals(named))
            .thenComparing(best)
        : best;
  }

  /**
   * Returns why a provider need not be probed; empty if the result of a probe decides.
   *
   * @param profile what is known about it without a probe
   */
  public Optional<Rejection> rejection(
      CreateRequest request, String name, ProviderProfile profile) {
    Optional<Rejection> unwanted =
        switch (request.placement().provider()) {
          case ProviderPreference.Auto() -> notForAuto(name, profile);
          case ProviderPreference.Named(String named) -> notNamed(named, request, name, profile);
        };
    return unwanted
        .or(() -> wrongRegion(request, name))
        .or(() -> tooWeak(request, name, profile.isolation()));
  }

  /**
   * Checks a named provider first: a client that named another provider does not need to know why
   * this one is unhealthy.
   */
  private Optional<Rejection> rejection(CreateRequest request, ProviderStatus status) {
    return switch (request.placement().provider()) {
      case ProviderPreference.Auto() ->
          unsuitable(request, status).or(() -> notForAuto(status.name(), profile(status)));
      case ProviderPreference.Named(String named) ->
          notNamed(named, request, status.name(), profile(status))
              .or(() -> unsuitable(request, status));
    };
  }

  private Optional<Rejection> notNamed(
      String named, CreateRequest request, String name, ProviderProfile profile) {
    if (name.equals(named)) {
      return Optional.empty();
    }
    if (!named.equals(MICROVM) || profile.hosting() != Hosting.REMOTE) {
      return reject(name, Kind.NOT_NAMED, "is not " + named + ", which the request names", "");
    }
    if (request.placement().strictNoFallback()) {
      return reject(
          name, Kind.NOT_NAMED, "the request allows no fallback (strict_no_fallback)", "");
    }
    if (!policy.microvmToRemote()) {
      return reject(
          name,
          Kind.NOT_NAMED,
          "fallback from " + MICROVM + " is disabled",
          "set local_microvm_fallback_to_remote: true");
    }
    return Optional.empty();
  }

  /**
   * @throws dev.isola.spi.error.InvalidRequest if no provider is in the requested region
   */
  private void refuseUnknownRegion(CreateRequest request) {
    Set<String> regions = new TreeSet<>();
    instances.values().forEach(one -> one.region().ifPresent(regions::add));
    request
        .placement()
        .region()
        .filter(region -> !regions.contains(region))
        .ifPresent(
            region -> {
              throw Fault.of(
                      ErrorCode.INVALID_REQUEST,
                      "no provider is in region '"
                          + region
                          + "'"
                          + Suggestion.hint(region, regions),
                      regions.isEmpty()
                          ? "omit the region: the configuration defines none"
                          : "choose one of " + String.join(", ", regions))
                  .with("field", "region")
                  .exception();
            });
  }

  private Optional<Rejection> wrongRegion(CreateRequest request, String name) {
    Optional<String> requested = request.placement().region();
    return requested.isEmpty() || requested.equals(instance(name).region())
        ? Optional.empty()
        : reject(name, Kind.OTHER_REGION, "is not in region " + requested.get(), "");
  }

  /** Returns the rejection that applies whether the provider is named or not. */
  private Optional<Rejection> unsuitable(CreateRequest request, ProviderStatus status) {
    String name = status.name();
    Optional<Rejection> elsewhere = wrongRegion(request, name);
    if (elsewhere.isPresent()) {
      return elsewhere;
    }
    List<String> unsupported = undeclared(request, status);
    if (!unsupported.isEmpty()) { // regardless of health
      return unsupported(name, unsupported);
    }
    if (status.health() instanceof Health.Unhealthy(String reason, String fix)) {
      return reject(name, Kind.UNHEALTHY, reason, fix);
    }
    ProviderInfo info = status.info().orElseThrow();
    Optional<Rejection> weak = tooWeak(request, name, info.isolation());
    if (weak.isPresent()) {
      return weak;
    }
    List<String> missing = info.missing(request.spec(), request.placement().requirements());
    return missing.isEmpty() ? Optional.empty() : unsupported(name, missing);
  }

  private static List<String> undeclared(CreateRequest request, ProviderStatus status) {
    return status.info().stream()
        .flatMap(info -> info.support().unsupportedFeatures(request.spec()).stream())
        .map(SpecFeature::displayName)
        .toList();
  }

  private static Optional<Rejection> unsupported(String name, List<String> missing) {
    return reject(name, Kind.UNSUPPORTED, "does not support " + String.join(", ", missing), "");
  }

  private Optional<Rejection> tooWeak(CreateRequest request, String name, Isolation isolation) {
    Isolation floor = floor(request);
    if (isolation.isAtLeast(floor)) {
      return Optional.empty();
    }
    boolean requested = floor != policy.floor();
    return reject(
        name,
        Kind.TOO_WEAK,
        "isolation "
            + lowerCase(isolation)
            + " is weaker than "
            + lowerCase(floor)
            + (requested ? ", which the request requires" : ", the floor of this installation"),
        requested ? "lower the required isolation" : "set floor: " + lowerCase(isolation));
  }

  private Optional<Rejection> notForAuto(String name, ProviderProfile profile) {
    if (profile.onlyWhenNamed()) {
      return reject(name, Kind.ONLY_WHEN_NAMED, "is used only if a request names it", "");
    }
    if (!profile.accelerated() && !policy.allowEmulation()) {
      return reject(
          name,
          Kind.EMULATED,
          "emulates the processors of its sandboxes in software, which is slow and therefore used"
              + " only if a request names it",
          "name provider " + name + " in the request, or set allow_emulation: true");
    }
    return profile.hosting() == Hosting.REMOTE
        ? remoteNotForAuto(name)
        : processNotAllowed(name, profile.isolation());
  }

  private Optional<Rejection> remoteNotForAuto(String name) {
    if (policy.mode() == DeploymentMode.SELF_HOSTED) {
      return reject(
          name,
          Kind.ONLY_WHEN_NAMED,
          "is a remote provider, which a self-hosted installation uses only if a request names it",
          "set deployment_mode: managed");
    }
    return Optional.empty();
  }

  private Optional<Rejection> processNotAllowed(String name, Isolation isolation) {
    return isolation == Isolation.PROCESS && !policy.allowProcess()
        ? reject(
            name,
            Kind.TOO_WEAK,
            "has no isolation, which requests must name explicitly",
            "set allow_process: true, or name the provider")
        : Optional.empty();
  }

  private static Optional<Rejection> reject(String name, Kind kind, String reason, String fix) {
    return Optional.of(new Rejection(name, kind, reason, fix));
  }

  /**
   * Returns the stronger of the isolation that the request requires and the floor of the policy.
   */
  private Isolation floor(CreateRequest request) {
    Isolation requested = request.placement().requirements().isolation();
    return requested.isAtLeast(policy.floor()) ? requested : policy.floor();
  }

  private static String lowerCase(Isolation isolation) {
    return isolation.name().toLowerCase(Locale.ROOT);
  }
}
