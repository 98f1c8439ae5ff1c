package dev.isola.provider.kubernetes;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The operator's settings.
 *
 * @param kubeconfig the file that tells how to reach the cluster
 * @param context the context in that file
 * @param namespace the namespace of the pods
 * @param image the image of sandboxes whose spec names none
 * @param runtimeClass the runtime class of the pods; empty for the runtime of the nodes
 * @param pull when the nodes pull images, as Kubernetes names it
 * @param pullSecrets the secrets with which they pull
 * @param nodeSelector the labels of the nodes that may run sandboxes
 * @param userNamespaces when root of a sandbox is an unprivileged user of its node
 * @param nodeGrace how long a sandbox outlives the connection of its node to the cluster; empty
 *     leaves it to the cluster
 * @param gvisorCgroups whether gVisor joins the control groups of its pods on all nodes
 * @param keyFile the file with the key of the installation; empty for that in the data folder
 * @param storage where named volumes are; empty if there are none
 * @param mode which objects of the cluster the sandboxes are
 * @param workspaceClaims whether the workspace of each sandbox is on a claim of its own, so that it
 *     can be stopped
 */
record KubernetesSettings(
    Optional<String> kubeconfig,
    Optional<String> context,
    Optional<String> namespace,
    Optional<String> image,
    Optional<String> runtimeClass,
    String pull,
    List<String> pullSecrets,
    Map<String, String> nodeSelector,
    UserNamespaces userNamespaces,
    Optional<Duration> nodeGrace,
    boolean gvisorCgroups,
    Optional<Path> keyFile,
    Optional<Storage> storage,
    Mode mode,
    boolean workspaceClaims) {
  private static final Map<String, String> PULL =
      Map.of("missing", "IfNotPresent", "always", "Always", "never", "Never");
  private static final Map<String, UserNamespaces> USERS =
      Map.of(
          "auto",
          UserNamespaces.WHERE_SUPPORTED,
          "true",
          UserNamespaces.ALWAYS,
          "false",
          UserNamespaces.NEVER);
  private static final Map<String, Mode> MODES =
      Map.of("pods", Mode.PODS, "agent-sandbox", Mode.AGENT_SANDBOX);
  private static final String EPHEMERAL = "ephemeral";
  private static final String CLAIM = "claim";
  private static final String RUNTIME_CLASS = "[a-z0-9]([a-z0-9.-]{0,38}[a-z0-9])?";

  private static final String DEFAULT_CLASS = "default";
  private static final String OBJECT_NAME = "[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?";
  private static final String SIZE = "[1-9][0-9]{0,9}(Mi|Gi|Ti)";
  private static final Map<String, String> ACCESS =
      Map.of("node", "ReadWriteOnce", "cluster", "ReadWriteMany");

  /** Which objects of the cluster the sandboxes are. */
  enum Mode {
    PODS,
    /** Objects of the kind {@code Sandbox}, for which the controller of agent-sandbox runs pods. */
    AGENT_SANDBOX
  }

  /** When pods have user namespaces of their own. */
  enum UserNamespaces {
    /**
     * If all nodes that may run sandboxes report that they support them, and pods have the kernel
     * of their node. A kernel of its own needs them less, and a node with gVisor reports them, but
     * may not start such a pod.
     */
    WHERE_SUPPORTED,
    ALWAYS,
    NEVER
  }

  /**
   * The storage of named volumes.
   *
   * @param storageClass empty for the default of the cluster
   * @param size of each volume, as Kubernetes writes it
   * @param accessMode as Kubernetes names it
   */
  record Storage(Optional<String> storageClass, String size, String accessMode) {}

  static KubernetesSettings of(ProviderConfig config) {
    Optional<String> runtimeClass = config.get("runtime_class");
    require(
        runtimeClass.filter(name -> !name.matches(RUNTIME_CLASS)).isEmpty(),
        "runtime_class",
        "use the name of a runtime class, of at most 40 characters");
    String pull = config.get("pull").orElse("missing");
    require(PULL.containsKey(pull), "pull", "use missing, always or never");
    String users = config.get("user_namespaces").orElse("auto");
    require(USERS.containsKey(users), "user_namespaces", "use auto, true or false");
    String gvisorCgroups = config.get("gvisor_cgroups").orElse("false");
    require(gvisorCgroups.matches("true|false"), "gvisor_cgroups", "use true or false");
    String mode = config.get("mode").orElse("pods");
    require(MODES.containsKey(mode), "mode", "use pods or agent-sandbox");
    String workspace = config.get("workspace").orElse(EPHEMERAL);
    require(workspace.matches(EPHEMERAL + "|" + CLAIM), "workspace", "use ephemeral or claim");
    Optional<Storage> storage = storage(config);
    require(
        workspace.equals(EPHEMERAL) || storage.isPresent(),
        "workspace",
        "claim needs the setting storage_class");
    require(
        workspace.equals(EPHEMERAL) || mode.equals("pods"),
        "workspace",
        "claim needs mode pods, since a Sandbox object ends with its pod");
    return new KubernetesSettings(
        config.get("kubeconfig"),
        config.get("context"),
        config.get("namespace"),
        config.get("image"),
        runtimeClass,
        PULL.getOrDefault(pull, ""),
        words(config, "pull_secrets").toList(),
        nodeSelector(config),
        USERS.getOrDefault(users, UserNamespaces.WHERE_SUPPORTED),
        nodeGrace(config),
        gvisorCgroups.equals("true"),
        config.get("key_file").map(Path::of),
        storage,
        MODES.getOrDefault(mode, Mode.PODS),
        workspace.equals(CLAIM));
  }

  private static Optional<Duration> nodeGrace(ProviderConfig config) {
    Optional<String> seconds = config.get("node_grace_seconds");
    require(
        seconds.filter(text -> !text.matches("[0-9]{1,5}")).isEmpty(),
        "node_grace_seconds",
        "use a number of seconds, 0 to 99999");
    return seconds.map(text -> Duration.ofSeconds(Long.parseLong(text)));
  }

  private static Optional<Storage> storage(ProviderConfig config) {
    Optional<String> name = config.get("storage_class");
    require(
        name.filter(text -> !text.matches(OBJECT_NAME)).isEmpty(),
        "storage_class",
        "use the name of a storage class, or default for that of the cluster");
    String size = config.get("volume_size").orElse("10Gi");
    require(size.matches(SIZE), "volume_size", "use a number with Mi, Gi or Ti, such as 10Gi");
    String access = config.get("volume_access").orElse("node");
    require(ACCESS.containsKey(access), "volume_access", "use node or cluster");
    return name.map(
        found ->
            new Storage(
                Optional.of(found).filter(text -> !text.equals(DEFAULT_CLASS)),
                size,
                ACCESS.getOrDefault(access, "")));
  }

  private static Map<String, String> nodeSelector(ProviderConfig config) {
    Map<String, String> labels = new LinkedHashMap<>();
    words(config, "node_selector")
        .forEach(
            word -> {
              int equals = word.indexOf('=');
              require(equals > 0, "node_selector", "use LABEL=VALUE, separated by commas");
              labels.put(word.substring(0, equals), word.substring(equals + 1));
            });
    return Map.copyOf(labels);
  }

  private static Stream<String> words(ProviderConfig config, String name) {
    return Stream.of(config.get(name).orElse("").split(","))
        .map(String::strip)
        .filter(word -> !word.isEmpty());
  }

  private static void require(boolean valid, String name, String remedy) {
    if (!valid) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the setting " + name + " of provider kubernetes is not valid",
              remedy)
          .exception();
    }
  }

  /** Returns the label that distinguishes the pods of several configurations in one namespace. */
  String provider() {
    String prefix = mode == Mode.PODS ? "kubernetes" : "agent-sandbox";
    return prefix
        + runtimeClass.map(name -> "." + name).orElse("")
        + (workspaceClaims ? "_claim" : ""); // no runtime class has this character
  }
}
