package dev.isola.app.local;

import dev.isola.app.cli.Providers;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Rejection;
import dev.isola.engine.api.Rejection.Kind;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.placement.Fallback;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.Isolation;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The provider of a run, selected as on the server. Providers are probed in order of preference,
 * only up to the first that is healthy and suitable, because probing all of them takes longer than
 * a run.
 *
 * @param status result of the health check
 */
record ProviderChoice(String name, Provider provider, ProviderStatus status) {

  /**
   * Selects a provider.
   *
   * @throws dev.isola.spi.error.NotFound if the requested provider does not exist
   * @throws SandboxException if no provider is suitable, naming each with the reason and a fix
   */
  static ProviderChoice of(Providers providers, SelectionPolicy policy, CreateRequest request) {
    Map<String, ProviderInstance> instances = providers.instances();
    Map<String, ProviderProfile> profiles = new LinkedHashMap<>();
    instances.forEach((name, one) -> profiles.put(name, one.profile()));
    if (request.placement().provider() instanceof ProviderPreference.Named(String requested)
        && !profiles.containsKey(requested)) {
      throw ProviderNames.unknown(requested, profiles.keySet());
    }
    ProviderSelector selector = new ProviderSelector(policy, instances);
    boolean named = request.placement().provider() instanceof ProviderPreference.Named;
    List<Rejection> ruledOut = new ArrayList<>();
    List<ProviderStatus> probed = new ArrayList<>();
    for (String name : selector.order(request, profiles)) {
      Optional<Rejection> rejection =
          selector.rejection(request, name, Objects.requireNonNull(profiles.get(name)));
      if (rejection.isPresent()) {
        ruledOut.add(rejection.get());
        continue;
      }
      ProviderStatus status = providers.status(name);
      probed.add(status);
      if (status.healthy()
          && (named || isAccelerated(status))
          && isBest(name, selector.select(request, probed))) {
        return new ProviderChoice(name, providers.get(name), status);
      }
    }
    Selection selection = select(selector, request, probed);
    return selection
        .best()
        .map(best -> of(best.name(), providers, probed))
        .orElseThrow(() -> refusal(request, profiles, selection, ruledOut));
  }

  /**
   * Selects among the probed providers. A requested provider is one of them unless its profile
   * already rules it out.
   */
  private static Selection select(
      ProviderSelector selector, CreateRequest request, List<ProviderStatus> probed) {
    boolean named = request.placement().provider() instanceof ProviderPreference.Named;
    return named
            && probed.stream()
                .noneMatch(
                    one -> request.placement().provider().equals(ProviderPreference.of(one.name())))
        ? Selection.none(List.of(), true)
        : selector.select(request, probed);
  }

  /** Returns whether no provider that is probed later can precede this one. */
  private static boolean isAccelerated(ProviderStatus status) {
    return status.info().filter(ProviderInfo::accelerated).isPresent();
  }

  private static boolean isBest(String name, Selection selection) {
    return selection.best().filter(best -> best.name().equals(name)).isPresent();
  }

  private static ProviderChoice of(String name, Providers providers, List<ProviderStatus> probed) {
    ProviderStatus status =
        probed.stream().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
    return new ProviderChoice(name, providers.get(name), status);
  }

  private static SandboxException refusal(
      CreateRequest request,
      Map<String, ProviderProfile> profiles,
      Selection selection,
      List<Rejection> ruledOut) {
    List<Rejection> all = new ArrayList<>(selection.rejections());
    all.addAll(ruledOut);
    if (request.placement().provider() instanceof ProviderPreference.Named(String requested)) {
      Optional<Rejection> why =
          all.stream().filter(one -> one.provider().equals(requested)).findFirst();
      if (why.isPresent()) {
        return named(why.get());
      }
    }
    all.removeIf(one -> one.kind() == Kind.ONLY_WHEN_NAMED);
    boolean unisolated = all.removeIf(one -> isPlainProcess(one, profiles));
    SandboxException error = Fallback.refused(Selection.none(all, false));
    if (!unisolated || request.placement().requirements().isolation() != Isolation.PROCESS) {
      return error;
    }
    Fault fault =
        Fault.of(
            error.code(),
            error.fault().problem(),
            error.fault().remedy() + "; or run without isolation (--isolation process)");
    for (Map.Entry<String, String> entry : error.context().entrySet()) {
      fault = fault.with(entry.getKey(), entry.getValue());
    }
    return fault.exception();
  }

  /**
   * Returns whether the provider was rejected for running plain processes. The error mentions all
   * of these in one sentence.
   */
  private static boolean isPlainProcess(Rejection one, Map<String, ProviderProfile> profiles) {
    ProviderProfile profile = profiles.getOrDefault(one.provider(), ProviderProfile.UNKNOWN);
    return one.kind() == Kind.TOO_WEAK && profile.isolation() == Isolation.PROCESS;
  }

  private static SandboxException named(Rejection why) {
    return Fault.of(
            why.kind() == Kind.UNHEALTHY
                ? ErrorCode.PROVIDER_UNAVAILABLE
                : ErrorCode.NOT_IMPLEMENTED,
            why.kind() == Kind.UNHEALTHY
                ? "provider " + why.provider() + " does not work here: " + why.reason()
                : "provider " + why.provider() + " cannot create this sandbox: " + why.reason(),
            why.fix().isEmpty() ? "choose another provider, or request less" : why.fix())
        .with("provider", why.provider())
        .exception();
  }
}
