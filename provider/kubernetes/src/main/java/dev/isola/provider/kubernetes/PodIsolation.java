package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Optional;

/**
 * What separates the pods of this provider from their nodes.
 *
 * @param userNamespace whether root of a pod is an unprivileged user of its node
 */
record PodIsolation(PodRuntime runtime, boolean userNamespace) {
  private static final int MAX_LENGTH = 4096;

  /** The users of a namespace that maps each to itself. */
  private static final String SAME_USERS = "0 0 4294967295";

  /** Returns the isolation by the settings; empty if the cluster lacks the runtime class. */
  static Optional<PodIsolation> find(Cluster cluster, KubernetesSettings settings) {
    return PodRuntime.find(cluster, settings)
        .map(
            runtime ->
                new PodIsolation(
                    runtime,
                    switch (settings.userNamespaces()) {
                      case ALWAYS -> true;
                      case NEVER -> false;
                      case WHERE_SUPPORTED ->
                          !runtime.hasOwnKernel() && isSupported(cluster, settings);
                    }));
  }

  /** Returns false if this client may not list the nodes. */
  private static boolean isSupported(Cluster cluster, KubernetesSettings settings) {
    try {
      String handler =
          settings
              .runtimeClass()
              .flatMap(cluster::runtimeClass)
              .map(found -> found.text("handler"))
              .orElse("");
      List<JsonValue> nodes = cluster.nodes(settings.nodeSelector());
      return !nodes.isEmpty() && nodes.stream().allMatch(node -> supports(node, handler));
    } catch (SandboxException e) {
      return false;
    }
  }

  /** Tells whether a node reports that a runtime of it supports user namespaces. */
  static boolean supports(JsonValue node, String handler) {
    return node.at("status", "runtimeHandlers").items().stream()
        .anyMatch(
            one -> one.text("name").equals(handler) && one.flag("features", "userNamespaces"));
  }

  /**
   * Verifies that a sandbox runs as promised. No command runs before.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it does not, or if that is not known
   */
  void verify(Cluster cluster, KubernetesSettings settings, PodSnapshot pod, Sandbox sandbox) {
    runtime.verify(cluster, settings, pod, sandbox);
    if (!userNamespace) {
      return;
    }
    // A kernel of its own shows its own users; the node refuses a pod that it cannot remap.
    boolean shared =
        !runtime.hasOwnKernel()
            && isShared(sandbox.files().readText("/proc/self/uid_map", UTF_8, MAX_LENGTH));
    if (pod.hostUsers() || shared) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "sandbox " + sandbox.id() + " shares the users of its node",
              "use nodes that support user namespaces, or set user_namespaces to false")
          .sandbox(sandbox.id())
          .exception();
    }
  }

  /** Tells whether a map of users maps each to itself. */
  static boolean isShared(String map) {
    return map.isBlank() || map.strip().replaceAll(" +", " ").equals(SAME_USERS);
  }
}
