package dev.isola.provider.kubernetes;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.provider.kubernetes.api.ClusterAccess;
import dev.isola.provider.kubernetes.api.ClusterClient;
import dev.isola.provider.kubernetes.api.ExecStream;
import dev.isola.provider.kubernetes.api.Kubeconfig;
import dev.isola.provider.kubernetes.api.ObjectWatch;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The objects of one namespace of a cluster. Connects when it is first used. */
final class Cluster implements AutoCloseable {
  private static final Duration SHORT = Duration.ofSeconds(15);
  private static final String DRY_RUN = "?dryRun=All";
  private static final String DEFAULT_NAMESPACE = "default";

  private final KubernetesSettings settings;
  private final Map<String, String> environment;
  private final Path home;
  private final ReentrantLock connecting = new ReentrantLock();
  private @Nullable Connection connection;

  private record Connection(ClusterClient client, String namespace) {}

  Cluster(KubernetesSettings settings, Map<String, String> environment, Path home) {
    this.settings = settings;
    this.environment = environment;
    this.home = home;
  }

  /** Returns a deadline for requests that the API server answers by itself. */
  static Deadline soon() {
    return Deadline.in(SHORT);
  }

  private Connection connection() {
    connecting.lock();
    try {
      Connection known = connection;
      if (known == null) {
        ClusterAccess access = access();
        known =
            new Connection(
                new ClusterClient(access),
                settings.namespace().or(access::namespace).orElse(DEFAULT_NAMESPACE));
        connection = known;
      }
      return known;
    } finally {
      connecting.unlock();
    }
  }

  /** Chooses as kubectl does: the setting, KUBECONFIG, the pod of this process, the home folder. */
  private ClusterAccess access() {
    Optional<Path> named =
        settings
            .kubeconfig()
            .or(() -> Optional.ofNullable(environment.get("KUBECONFIG")))
            .filter(text -> !text.isEmpty())
            .map(Path::of);
    if (named.isPresent()) {
      return Kubeconfig.read(named.get(), settings.context());
    }
    Path usual = home.resolve(".kube/config");
    return Kubeconfig.ofPod(environment)
        .or(
            () ->
                Files.isReadable(usual)
                    ? Optional.of(Kubeconfig.read(usual, settings.context()))
                    : Optional.empty())
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        "no cluster is configured: there is neither KUBECONFIG nor " + usual,
                        "name a kubeconfig (setting kubeconfig), or run the server in the cluster")
                    .exception());
  }

  ClusterClient client() {
    return connection().client();
  }

  String namespace() {
    return connection().namespace();
  }

  private String core(String kind) {
    return "/api/v1/namespaces/" + namespace() + "/" + kind;
  }

  String pods() {
    return core("pods");
  }

  private String pod(String name) {
    return pods() + "/" + name;
  }

  /** Returns the version of the API server. */
  String version() {
    return client().get("/version", soon()).map(found -> found.text("gitVersion")).orElse("");
  }

  boolean hasNamespace() {
    return client().get("/api/v1/namespaces/" + namespace(), soon()).isPresent();
  }

  Optional<JsonValue> runtimeClass(String name) {
    return client().get("/apis/node.k8s.io/v1/runtimeclasses/" + name, soon());
  }

  /** Returns the nodes with these labels. */
  List<JsonValue> nodes(Map<String, String> labels) {
    String selector =
        labels.entrySet().stream()
            .map(label -> label.getKey() + "=" + label.getValue())
            .collect(Collectors.joining(","));
    return list("/api/v1/nodes", selector);
  }

  Optional<JsonValue> node(String name) {
    return client().get("/api/v1/nodes/" + name, soon());
  }

  Optional<JsonValue> pod(String name, Deadline deadline) {
    return client().get(pod(name), deadline);
  }

  /** Returns the objects of a list that have these labels. */
  List<JsonValue> list(String list, String selector) {
    return ObjectWatch.list(client(), list, selector, soon()).objects();
  }

  Optional<JsonValue> find(String list, String name) {
    return client().get(list + "/" + name, soon());
  }

  /** Requests the removal of an object; does nothing if it does not exist. */
  void delete(String list, String name) {
    Optional<JsonValue> deleted = client().delete(list + "/" + name, Json.object(), soon());
    assert deleted.isEmpty() || deleted.get().isObject();
  }

  JsonValue createPod(Map<String, Object> pod, Deadline deadline) {
    return client().create(pods(), pod, deadline);
  }

  /** Lets the API server check a pod without creating it. */
  void checkPod(Map<String, Object> pod) {
    JsonValue accepted = client().create(pods() + DRY_RUN, pod, soon());
    assert accepted.isObject();
  }

  /**
   * Asks for the end of a pod.
   *
   * @param grace 0 removes the object although its node may still run the processes
   */
  void deletePod(PodSnapshot pod, int grace, Deadline deadline) {
    Optional<JsonValue> deleted =
        client()
            .delete(
                pod(pod.name()),
                Json.object(
                    "gracePeriodSeconds",
                    grace,
                    "propagationPolicy",
                    "Background",
                    "preconditions",
                    Map.of("uid", pod.uid())),
                deadline);
    assert deleted.isEmpty() || deleted.get().isObject();
  }

  /** Creates an object of the namespace that never changes, unless there is one of that name. */
  void ensure(String list, String name, Map<String, Object> object) {
    if (find(list, name).isPresent()) {
      return;
    }
    try {
      JsonValue created = client().create(list, object, soon());
      assert created.isObject();
    } catch (Conflict anotherProcess) {
      // It exists, which is all that is needed.
    }
  }

  /** Deletes the objects of a list that have a label. */
  void removeAll(String list, String selector) {
    for (JsonValue object : list(list, selector)) {
      delete(list, object.text("metadata", "name"));
    }
  }

  String configMaps() {
    return core("configmaps");
  }

  String events() {
    return core("events");
  }

  String claims() {
    return core("persistentvolumeclaims");
  }

  String networkPolicies() {
    return "/apis/networking.k8s.io/v1/namespaces/" + namespace() + "/networkpolicies";
  }

  /** Returns the newest warning about an object, if there is one. */
  Optional<String> warning(String uid) {
    String events =
        events()
            + ClusterClient.query(
                List.of(
                    Map.entry("fieldSelector", "involvedObject.uid=" + uid + ",type=Warning"),
                    Map.entry("limit", "50")));
    return client()
        .get(events, soon())
        .flatMap(list -> list.at("items").items().stream().reduce((earlier, later) -> later))
        .map(event -> PodSnapshot.bounded(event.text("reason") + ": " + event.text("message")));
  }

  /** Asks whether this client may do something in the namespace. */
  boolean allows(Permission permission) {
    Map<String, Object> attributes =
        Json.object(
            "verb",
            permission.verb(),
            "group",
            permission.group(),
            "resource",
            permission.resource(),
            "subresource",
            permission.subresource());
    if (permission.inNamespace()) {
      attributes.put("namespace", namespace());
    }
    JsonValue review =
        client()
            .create(
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                Json.object(
                    "apiVersion",
                    "authorization.k8s.io/v1",
                    "kind",
                    "SelfSubjectAccessReview",
                    "spec",
                    Map.of("resourceAttributes", attributes)),
                soon());
    return review.flag("status", "allowed");
  }

  /** Starts a process in a pod. */
  ExecStream exec(String pod, List<String> command, Duration timeout) throws IOException {
    List<Map.Entry<String, String>> query = new ArrayList<>();
    command.forEach(word -> query.add(Map.entry("command", word)));
    query.add(Map.entry("container", PodPlan.CONTAINER));
    query.add(Map.entry("stdin", "true"));
    query.add(Map.entry("stdout", "true"));
    query.add(Map.entry("stderr", "true"));
    return client().exec(pod(pod) + "/exec" + ClusterClient.query(query), timeout);
  }

  @Override
  public void close() {
    connecting.lock();
    try {
      if (connection != null) {
        connection.client().close();
      }
    } finally {
      connecting.unlock();
    }
  }
}
