package dev.isola.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.codec.json.JsonValue;
import dev.isola.provider.kubernetes.KubernetesProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola doctor --kubernetes} with a fake API server. */
class ClusterDoctorTest {
  private static final String NAMESPACE = "/api/v1/namespaces/boxes";
  private static final String POLICIES =
      "/apis/networking.k8s.io/v1/namespaces/boxes/networkpolicies";
  private static final String CLASSES = "/apis/node.k8s.io/v1/runtimeclasses";
  private static final String NODES = "/api/v1/nodes";

  @TempDir Path folder;
  private FakeKubernetesApi cluster;
  private CommandLineFixture isola;

  @BeforeEach
  void start() throws Exception {
    cluster = new FakeKubernetesApi();
    cluster.object(
        NAMESPACE,
        Map.of(
            "metadata",
            Map.of("labels", Map.of("pod-security.kubernetes.io/enforce", "privileged")),
            "status",
            Map.of("phase", "Active")));
    cluster.items(
        POLICIES,
        Map.of(
            "spec", Map.of("podSelector", Map.of(), "policyTypes", List.of("Ingress", "Egress"))));
    cluster.items(CLASSES, Map.of("metadata", Map.of("name", "gvisor")));
    cluster.items(NODES, node("True", false));
    isola = new CommandLineFixture(folder.resolve("data"), new KubernetesProviderFactory());
    isola.env.put("HOME", folder.toString());
    isola.env.put("ISOLA_PROVIDERS_KUBERNETES_IMAGE", "base");
    isola.env.put(
        "ISOLA_PROVIDERS_KUBERNETES_KUBECONFIG", cluster.kubeconfig(folder, "boxes").toString());
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private static Map<String, ?> node(String ready, boolean cordoned) {
    return Map.of(
        "spec",
        Map.of("unschedulable", cordoned),
        "status",
        Map.of(
            "conditions",
            List.of(Map.of("type", "Ready", "status", ready)),
            "allocatable",
            Map.of("pods", "110"),
            "nodeInfo",
            Map.of("architecture", "amd64")));
  }

  private JsonValue check(String name) throws IOException {
    CommandResult result = isola.call("doctor", "--kubernetes", "--json");
    return JsonValue.parse(result.rawOut().toArray()).at("kubernetes").items().stream()
        .filter(one -> one.text("name").equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(result.out() + result.err()));
  }

  private void assertBad(String name, String problem, String fix) throws IOException {
    JsonValue check = check(name);
    assertThat(check.flag("good")).as(check.toString()).isFalse();
    assertThat(check.text("value")).contains(problem);
    assertThat(check.text("fix")).contains(fix);
    assertThat(isola.call("doctor", "--kubernetes").code()).isEqualTo(1);
  }

  private void assertWarning(String name, String problem) throws IOException {
    JsonValue check = check(name);
    assertThat(check.flag("good")).as(check.toString()).isTrue();
    assertThat(check.flag("warning")).as(check.toString()).isTrue();
    assertThat(check.text("value")).contains(problem);
  }

  @Test
  void clusterWithoutAgentSandboxIsNotUsedInThatMode() throws IOException {
    isola.env.put("ISOLA_PROVIDERS_KUBERNETES_MODE", "agent-sandbox");
    assertBad("agent-sandbox", "no sandboxes.agents.x-k8s.io", "install agent-sandbox");
    assertBad("sandboxes", "no resource sandboxes.agents.x-k8s.io", "install agent-sandbox");

    cluster.object(
        "/apis/agents.x-k8s.io/v1beta1", Map.of("resources", List.of(Map.of("name", "sandboxes"))));
    assertThat(check("agent-sandbox").flag("good")).isTrue();
    assertThat(check("sandboxes").text("value")).contains("accepts a Sandbox");

    cluster.deny("patch sandboxes.agents.x-k8s.io");
    assertBad("sandboxes", "patch sandboxes.agents.x-k8s.io", "bind a role");
  }

  @Test
  void everythingThatSandboxesNeedIsThere() {
    isola.env.put("ISOLA_PROVIDERS_KUBERNETES_RUNTIME_CLASS", "gvisor");
    cluster.object(
        CLASSES + "/gvisor", Map.of("metadata", Map.of("name", "gvisor"), "handler", "runsc"));

    CommandResult result = isola.call("doctor", "--kubernetes");

    assertThat(result.out())
        .contains("Kubernetes v1.36.3 at https://127.0.0.1")
        .contains("gvisor; sandboxes use gvisor")
        .contains("1 of 1 can run pods, 110 at most, on amd64")
        .contains("every permission is granted, and the API server accepts a pod");
    assertThat(result.code()).as(result.out() + result.err()).isZero();
  }

  @Test
  void missingNamespaceIsNamedWithTheCommandThatCreatesIt() throws IOException {
    isola.env.put("ISOLA_PROVIDERS_KUBERNETES_NAMESPACE", "others");
    assertBad("namespace", "others does not exist", "kubectl create namespace others");
  }

  @Test
  void podSecurityThatRefusesTheAgentIsBad() throws IOException {
    cluster.object(
        NAMESPACE,
        Map.of(
            "metadata",
            Map.of("labels", Map.of("pod-security.kubernetes.io/enforce", "restricted"))));
    assertBad(
        "pod security", "restricted is enforced", "pod-security.kubernetes.io/enforce=privileged");
  }

  @Test
  void missingPermissionsAreNamed() throws IOException {
    cluster.deny("create pods/exec");
    cluster.deny("list events");
    assertBad("sandboxes", "create pods/exec, list events", "role");
  }

  @Test
  void missingRuntimeClassIsBad() throws IOException {
    isola.env.put("ISOLA_PROVIDERS_KUBERNETES_RUNTIME_CLASS", "kata");
    assertBad("runtime classes", "there is no kata; there are: gvisor", "runtime_class");
  }

  @Test
  void clusterWithoutUsableNodesIsBad() throws IOException {
    cluster.items(NODES, node("False", false), node("True", true));
    assertBad("nodes", "0 of 2 can run pods", "kubectl get nodes");
  }

  @Test
  void namespaceWithoutPolicyThatDeniesEverythingIsAWarning() throws IOException {
    cluster.items(
        POLICIES,
        Map.of(
            "spec",
            Map.of(
                "podSelector",
                Map.of(),
                "policyTypes",
                List.of("Ingress", "Egress"),
                "egress",
                List.of(Map.of()))));
    assertWarning("network policies", "1, none of which isolates every pod");
  }

  @Test
  void objectsThatTheUserMayNotReadAreWarnings() throws IOException {
    cluster.forbid(NODES);
    assertWarning("nodes", "not checked");
  }

  @Test
  void unreachableApiServerIsTheOnlyResult() throws IOException {
    cluster.close();
    assertBad("API server", "not reachable", "kubectl");
    CommandResult result = isola.call("doctor", "--kubernetes", "--json");
    assertThat(JsonValue.parse(result.rawOut().toArray()).at("kubernetes").items()).hasSize(1);
  }

  @Test
  void withoutAClusterTheMessageSaysHowToNameOne() throws IOException {
    isola.env.remove("ISOLA_PROVIDERS_KUBERNETES_KUBECONFIG");
    assertBad("cluster", "no cluster is configured", "KUBECONFIG");
  }
}
