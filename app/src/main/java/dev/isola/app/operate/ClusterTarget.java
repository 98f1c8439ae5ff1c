package dev.isola.app.operate;

import dev.isola.provider.kubernetes.api.ClusterAccess;
import dev.isola.provider.kubernetes.api.Kubeconfig;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster and namespace of sandboxes, by the settings of the provider kubernetes.
 *
 * @param runtimeClass the runtime class of sandboxes; empty for the runtime of the nodes
 * @param agentSandbox whether sandboxes are objects of agent-sandbox
 */
record ClusterTarget(
    ClusterAccess access, String namespace, Optional<String> runtimeClass, boolean agentSandbox) {
  private static final String DEFAULT_NAMESPACE = "default";

  /**
   * Chooses as the provider does: the setting, KUBECONFIG, the pod of this process, the home
   * folder.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if there is no cluster
   */
  static ClusterTarget of(ProviderConfig config, Map<String, String> environment, Path home) {
    ClusterAccess access = access(config, environment, home);
    return new ClusterTarget(
        access,
        config.get("namespace").or(access::namespace).orElse(DEFAULT_NAMESPACE),
        config.get("runtime_class").filter(name -> !name.isEmpty()),
        config.get("mode").filter("agent-sandbox"::equals).isPresent());
  }

  private static ClusterAccess access(
      ProviderConfig config, Map<String, String> environment, Path home) {
    Optional<String> context = config.get("context");
    Optional<Path> named =
        config
            .get("kubeconfig")
            .or(() -> Optional.ofNullable(environment.get("KUBECONFIG")))
            .filter(text -> !text.isEmpty())
            .map(Path::of);
    if (named.isPresent()) {
      return Kubeconfig.read(named.get(), context);
    }
    Path usual = home.resolve(".kube/config");
    return Kubeconfig.ofPod(environment)
        .or(
            () ->
                Files.isReadable(usual)
                    ? Optional.of(Kubeconfig.read(usual, context))
                    : Optional.empty())
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        "no cluster is configured: there is neither KUBECONFIG nor " + usual,
                        "set KUBECONFIG or providers.kubernetes.kubeconfig, or run the command in a"
                            + " pod of the cluster")
                    .exception());
  }
}
