package dev.isola.app.operate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.codec.json.JsonValue;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.provider.kubernetes.KubernetesProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The Helm chart and the plain manifests in {@code packaging/kubernetes}. */
class KubernetesManifestsTest {
  private static final Path FOLDER =
      Path.of("..", "packaging", "kubernetes").toAbsolutePath().normalize();
  private static final Pattern VALUE = Pattern.compile("\\.Values((?:\\.[a-zA-Z]+)+)");

  private static List<Map<?, ?>> documents() throws IOException {
    return documents(Files.readString(FOLDER.resolve("manifests/isola.yaml")));
  }

  private static List<Map<?, ?>> documents(String text) {
    List<Map<?, ?>> documents = new ArrayList<>();
    for (Object one : new Load(LoadSettings.builder().build()).loadAllFromString(text)) {
      if (one instanceof Map<?, ?> document) {
        documents.add(document);
      }
    }
    return documents;
  }

  private static Map<?, ?> document(String kind, String name) throws IOException {
    return document(documents(), kind, name);
  }

  private static Map<?, ?> document(List<Map<?, ?>> documents, String kind, String name) {
    return documents.stream()
        .filter(one -> kind.equals(one.get("kind")))
        .filter(one -> name.equals(at(one, "metadata", "name")))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + kind + " " + name));
  }

  private static Object at(Object document, String... path) {
    Object value = document;
    for (String name : path) {
      value = value instanceof Map<?, ?> map && map.get(name) != null ? map.get(name) : Map.of();
    }
    return value;
  }

  private static List<?> list(Object value) {
    return value instanceof List<?> list ? list : List.of();
  }

  /** Returns the output of {@code render}; skips the test without Helm. */
  private static String render(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(FOLDER.resolve("render").toString()));
    command.addAll(List.of(arguments));
    Process render = new ProcessBuilder(command).redirectErrorStream(true).start();
    render.getOutputStream().close();
    String output = new String(render.getInputStream().readAllBytes(), UTF_8);
    int code = render.waitFor();
    Assumptions.assumeTrue(code != 69, output);
    assertThat(code).as(output).isZero();
    return output;
  }

  @Test
  void plainManifestsAreThoseOfTheChart() throws Exception {
    assertThat(render("--check")).doesNotContain("differs");
  }

  /** The provider asks the API server for each permission that it needs. */
  @Test
  void roleGrantsWhatTheProviderNeedsAndNothingElse(@TempDir Path folder) throws Exception {
    assertGranted(folder, "pods", documents());
  }

  @Test
  void roleOfTheOtherModeGrantsWhatThatNeeds(@TempDir Path folder) throws Exception {
    String mode = "agent-sandbox";
    assertGranted(folder, mode, documents(render("--set", "sandboxes.mode=" + mode)));
  }

  private static void assertGranted(Path folder, String mode, List<Map<?, ?>> documents)
      throws Exception {
    try (FakeKubernetesApi cluster = new FakeKubernetesApi()) {
      cluster.object(
          "/apis/agents.x-k8s.io/v1beta1",
          Map.of("resources", List.of(Map.of("name", "sandboxes"))));
      CommandLineFixture isola =
          new CommandLineFixture(folder.resolve("data"), new KubernetesProviderFactory());
      isola.env.put("ISOLA_PROVIDERS_KUBERNETES_IMAGE", "base");
      isola.env.put("ISOLA_PROVIDERS_KUBERNETES_MODE", mode);
      isola.env.put(
          "ISOLA_PROVIDERS_KUBERNETES_KUBECONFIG", cluster.kubeconfig(folder, "boxes").toString());
      isola.call("doctor", "--kubernetes");

      assertThat(granted(document(documents, "Role", "isola-sandboxes")))
          .as("the rules of the role in chart/templates/rbac.yaml")
          .isEqualTo(cluster.reviews())
          .isNotEmpty();
    }
  }

  private static Set<String> granted(Map<?, ?> role) {
    Set<String> granted = new TreeSet<>();
    for (Object rule : list(at(role, "rules"))) {
      for (Object group : list(at(rule, "apiGroups"))) {
        for (Object resource : list(at(rule, "resources"))) {
          for (Object verb : list(at(rule, "verbs"))) {
            granted.add(verb + " " + resource + ("".equals(group) ? "" : "." + group));
          }
        }
      }
    }
    return granted;
  }

  @Test
  void containersHaveNoPrivileges() throws IOException {
    Object pod = at(document("Deployment", "isola"), "spec", "template", "spec");
    assertThat(at(pod, "securityContext", "runAsNonRoot")).isEqualTo(true);
    assertThat(at(pod, "securityContext", "seccompProfile", "type")).isEqualTo("RuntimeDefault");
    assertThat(list(at(pod, "containers"))).isNotEmpty();
    for (Object container : list(at(pod, "containers"))) {
      Object security = at(container, "securityContext");
      assertThat(at(security, "allowPrivilegeEscalation")).isEqualTo(false);
      assertThat(at(security, "readOnlyRootFilesystem")).isEqualTo(true);
      assertThat(at(security, "capabilities", "drop")).isEqualTo(List.of("ALL"));
      for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
        assertThat(at(container, probe, "httpGet", "path").toString()).startsWith("/");
      }
    }
  }

  /** A variable that no key of the configuration has would be ignored. */
  @Test
  void variablesOfTheServersAreKeysOfTheConfiguration() throws IOException {
    Set<String> known =
        ConfigKeys.ALL.stream()
            .flatMap(key -> key.variables().stream())
            .collect(Collectors.toSet());
    known.addAll(Set.of("ISOLA_API_KEY", "SECRETS_KEY_BASE64", "POD_IP"));
    Object pod = at(document("Deployment", "isola"), "spec", "template", "spec");
    Object server = list(at(pod, "containers")).getFirst();
    Set<String> variables =
        list(at(server, "env")).stream()
            .map(one -> at(one, "name").toString())
            .filter(name -> !name.startsWith("ISOLA_PROVIDERS_"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(variables).isNotEmpty();
    variables.removeAll(known);
    assertThat(variables).as("variables that mean nothing to the server").isEmpty();
  }

  @Test
  void templatesUseTheValuesThatTheSchemaKnows() throws IOException {
    Set<String> used = new TreeSet<>();
    try (Stream<Path> files = Files.list(FOLDER.resolve("chart/templates"))) {
      for (Path file : files.toList()) {
        Matcher matcher = VALUE.matcher(Files.readString(file));
        while (matcher.find()) {
          used.add(matcher.group(1).substring(1));
        }
      }
    }
    JsonValue schema =
        JsonValue.parse(Files.readAllBytes(FOLDER.resolve("chart/values.schema.json")));
    Object values =
        new Load(LoadSettings.builder().build())
            .loadFromString(Files.readString(FOLDER.resolve("chart/values.yaml")));
    assertThat(used).isNotEmpty();
    for (String path : used) {
      String[] names = path.split("\\.");
      JsonValue property = schema;
      for (String name : names) {
        property = property.at("properties", name);
      }
      assertThat(property.isObject()).as("the schema of " + path).isTrue();
      assertThat(at(values, names)).as("the default of " + path).isNotEqualTo(Map.of("", ""));
    }
    assertThat(undeclared(schema, values, "")).as("values without a schema").isEmpty();
  }

  private static List<String> undeclared(JsonValue schema, Object values, String path) {
    List<String> missing = new ArrayList<>();
    if (schema.has("properties") && values instanceof Map<?, ?> map) {
      map.forEach(
          (name, value) -> {
            JsonValue property = schema.at("properties", name.toString());
            if (property.isObject()) {
              missing.addAll(undeclared(property, value, path + name + "."));
            } else {
              missing.add(path + name);
            }
          });
    }
    return missing;
  }
}
