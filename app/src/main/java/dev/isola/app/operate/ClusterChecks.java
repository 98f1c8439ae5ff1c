package dev.isola.app.operate;

import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentBinary;
import dev.isola.link.MachineArchitecture;
import dev.isola.provider.kubernetes.api.ClusterClient;
import dev.isola.spi.Health;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The checks of {@code isola doctor --kubernetes}, by requests that change nothing. */
final class ClusterChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(15);
  private static final int OLDEST_MINOR = 30;
  private static final Pattern MINOR = Pattern.compile("^v?1\\.(\\d{1,4})\\.");
  private static final String SECURITY = "pod-security.kubernetes.io/enforce";

  private static final String SANDBOX_API = "/apis/agents.x-k8s.io/v1beta1";

  /** The largest config map that an API server accepts. */
  private static final int MAX_CONFIG_MAP = 1 << 20;

  private final ClusterClient client;
  private final ClusterTarget target;
  private final Supplier<Health> provider;

  /**
   * @param provider the health of the provider, which lets the API server check every permission,
   *     and a pod without creating it
   */
  ClusterChecks(ClusterClient client, ClusterTarget target, Supplier<Health> provider) {
    this.client = client;
    this.target = target;
    this.provider = provider;
  }

  /** Returns the results; only the first one if the API server does not answer. */
  List<DoctorCheck> run() {
    List<DoctorCheck> checks = new ArrayList<>();
    try {
      checks.add(server());
    } catch (SandboxException e) {
      checks.add(DoctorCheck.bad("API server", e.fault().problem(), e.fault().remedy()));
      return checks;
    }
    checks.add(attempt("namespace", this::namespace));
    checks.add(attempt("pod security", this::podSecurity));
    checks.add(attempt("runtime classes", this::runtimeClasses));
    checks.add(attempt("network policies", this::networkPolicies));
    checks.add(attempt("nodes", this::nodes));
    checks.add(agent());
    if (target.agentSandbox()) {
      checks.add(attempt("agent-sandbox", this::agentSandbox));
    }
    checks.add(sandboxes());
    return checks;
  }

  private static Deadline soon() {
    return Deadline.in(TIMEOUT);
  }

  /** Reports what this user may not read as a warning: servers need less than this command. */
  private static DoctorCheck attempt(String name, Supplier<DoctorCheck> check) {
    try {
      return check.get();
    } catch (SandboxException e) {
      return DoctorCheck.warning(
          name,
          "not checked: " + e.fault().problem(),
          "run this command with a kubeconfig that may read it; servers do not need it");
    }
  }

  private DoctorCheck server() {
    String version =
        client.get("/version", soon()).map(found -> found.text("gitVersion")).orElse("unknown");
    String value = "Kubernetes " + version + " at " + client.server();
    Matcher minor = MINOR.matcher(version);
    return minor.find() && Integer.parseInt(minor.group(1)) < OLDEST_MINOR
        ? DoctorCheck.warning(
            "API server", value, "Isola is tested with 1.36, and the chart needs 1." + OLDEST_MINOR)
        : DoctorCheck.good("API server", value);
  }

  private Optional<JsonValue> readNamespace() {
    return client.get("/api/v1/namespaces/" + target.namespace(), soon());
  }

  private DoctorCheck namespace() {
    Optional<JsonValue> found = readNamespace();
    if (found.isEmpty()) {
      return DoctorCheck.bad(
          "namespace",
          target.namespace() + " does not exist",
          "kubectl create namespace " + target.namespace());
    }
    return found.get().text("status", "phase").equals("Terminating")
        ? DoctorCheck.bad(
            "namespace",
            target.namespace() + " is being deleted",
            "choose another one (setting namespace)")
        : DoctorCheck.good("namespace", target.namespace());
  }

  private DoctorCheck podSecurity() {
    String level =
        readNamespace()
            .flatMap(found -> found.at("metadata", "labels").optionalText(SECURITY))
            .orElse("");
    return switch (level) {
      case "", "privileged" ->
          DoctorCheck.good("pod security", level.isEmpty() ? "no level is enforced" : level);
      default ->
          DoctorCheck.bad(
              "pod security",
              level + " is enforced, which refuses the agent's CAP_NET_ADMIN",
              "kubectl label --overwrite namespace "
                  + target.namespace()
                  + " "
                  + SECURITY
                  + "=privileged");
    };
  }

  private List<JsonValue> items(String path) {
    return client.get(path, soon()).map(list -> list.at("items").items()).orElse(List.of());
  }

  private DoctorCheck runtimeClasses() {
    Set<String> names = new TreeSet<>();
    items("/apis/node.k8s.io/v1/runtimeclasses")
        .forEach(one -> names.add(one.text("metadata", "name")));
    String all = names.isEmpty() ? "none" : String.join(", ", names);
    Optional<String> missing = target.runtimeClass().filter(name -> !names.contains(name));
    if (missing.isPresent()) {
      return DoctorCheck.bad(
          "runtime classes",
          "there is no " + missing.get() + "; there are: " + all,
          "install that runtime on the nodes and create its RuntimeClass, or change the setting"
              + " runtime_class");
    }
    return target.runtimeClass().isPresent()
        ? DoctorCheck.good(
            "runtime classes", all + "; sandboxes use " + target.runtimeClass().get())
        : DoctorCheck.warning(
            "runtime classes",
            all + "; sandboxes use the runtime of the nodes",
            "for code of strangers, install gVisor or Kata and set runtime_class");
  }

  private DoctorCheck networkPolicies() {
    List<JsonValue> policies =
        items("/apis/networking.k8s.io/v1/namespaces/" + target.namespace() + "/networkpolicies");
    boolean deniesAll = policies.stream().anyMatch(ClusterChecks::deniesAll);
    return deniesAll
        ? DoctorCheck.good("network policies", "one isolates every pod of the namespace")
        : DoctorCheck.warning(
            "network policies",
            policies.size() + ", none of which isolates every pod of the namespace",
            "create one with an empty podSelector and no rules, as the chart does; the agent"
                + " removes the network of its pod, but not before it runs");
  }

  private static boolean deniesAll(JsonValue policy) {
    JsonValue spec = policy.at("spec");
    List<String> types = spec.at("policyTypes").items().stream().map(one -> one.text()).toList();
    return spec.at("podSelector").members().isEmpty()
        && types.containsAll(List.of("Ingress", "Egress"))
        && spec.at("ingress").items().isEmpty()
        && spec.at("egress").items().isEmpty();
  }

  private DoctorCheck nodes() {
    List<JsonValue> all = items("/api/v1/nodes");
    List<JsonValue> usable = all.stream().filter(ClusterChecks::isUsable).toList();
    Set<String> architectures = new TreeSet<>();
    long pods = 0;
    for (JsonValue node : usable) {
      architectures.add(node.text("status", "nodeInfo", "architecture"));
      pods += number(node.text("status", "allocatable", "pods"));
    }
    String value = usable.size() + " of " + all.size() + " can run pods";
    if (usable.isEmpty()) {
      return DoctorCheck.bad("nodes", value, "add a node, or uncordon one: kubectl get nodes");
    }
    return DoctorCheck.good(
        "nodes", value + ", " + pods + " at most, on " + String.join(" and ", architectures));
  }

  private static boolean isUsable(JsonValue node) {
    return !node.flag("spec", "unschedulable")
        && node.at("status", "conditions").items().stream()
            .anyMatch(one -> one.text("type").equals("Ready") && one.text("status").equals("True"));
  }

  private static long number(String text) {
    return text.matches("\\d{1,9}") ? Long.parseLong(text) : 0;
  }

  /** Nodes get the agent from a config map. */
  private static DoctorCheck agent() {
    try {
      int size = AgentBinary.content(MachineArchitecture.ofHost().machine()).length;
      return size <= MAX_CONFIG_MAP
          ? DoctorCheck.good("agent", size + " of " + MAX_CONFIG_MAP + " bytes of a config map")
          : DoctorCheck.bad(
              "agent",
              size + " bytes, and a config map has at most " + MAX_CONFIG_MAP,
              "this is a bug of this build of Isola; please report it");
    } catch (SandboxException e) {
      return DoctorCheck.bad("agent", e.fault().problem(), e.fault().remedy());
    }
  }

  private DoctorCheck agentSandbox() {
    boolean defined =
        client.get(SANDBOX_API, soon()).stream()
            .flatMap(found -> found.at("resources").items().stream())
            .anyMatch(one -> one.text("name").equals("sandboxes"));
    return defined
        ? DoctorCheck.good("agent-sandbox", "the cluster has sandboxes.agents.x-k8s.io v1beta1")
        : DoctorCheck.bad(
            "agent-sandbox",
            "the cluster has no sandboxes.agents.x-k8s.io v1beta1",
            "install agent-sandbox 1.0 or later, or change the setting mode to pods");
  }

  private DoctorCheck sandboxes() {
    return switch (provider.get()) {
      case Health.Healthy _ ->
          DoctorCheck.good(
              "sandboxes",
              "every permission is granted, and the API server accepts a "
                  + (target.agentSandbox() ? "Sandbox" : "pod"));
      case Health.Degraded(String reason, String fix) ->
          DoctorCheck.warning("sandboxes", reason, fix);
      case Health.Unhealthy(String reason, String fix) -> DoctorCheck.bad("sandboxes", reason, fix);
    };
  }
}
