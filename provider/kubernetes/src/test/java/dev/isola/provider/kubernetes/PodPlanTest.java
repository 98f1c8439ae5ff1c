package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PodPlanTest {
  private static final AgentConfigMap AGENT =
      AgentConfigMap.of(new InstanceId("i1"), AgentConfigMap.ownArchitecture());

  private static JsonValue plan(Map<String, String> settings) throws IOException {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId("s1")).env("TOKEN", "in the environment").build();
    PodPlan plan =
        new PodPlan(
            new InstanceId("i1"),
            KubernetesSettings.of(new ProviderConfig(settings)),
            spec,
            "image",
            AGENT,
            new PodIsolation(PodRuntime.HOST_KERNEL, true));
    return JsonValue.parse(Json.text(plan.body()).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void podIsHardenedAndHasNoSecret() throws IOException {
    JsonValue pod = plan(Map.of("runtime_class", "gvisor", "user_namespaces", "auto"));
    JsonValue container = pod.at("spec", "containers").items().getFirst();
    JsonValue security = container.at("securityContext");

    assertThat(security.flag("privileged")).isFalse();
    assertThat(security.at("allowPrivilegeEscalation")).hasToString("false");
    assertThat(security.at("capabilities", "drop")).hasToString("[\"ALL\"]");
    assertThat(pod.at("spec", "automountServiceAccountToken")).hasToString("false");
    assertThat(pod.at("spec", "hostUsers")).hasToString("false");
    assertThat(pod.text("spec", "runtimeClassName")).isEqualTo("gvisor");
    assertThat(pod.text("spec", "securityContext", "seccompProfile", "type"))
        .isEqualTo("RuntimeDefault");
    assertThat(pod.toString()).doesNotContain("in the environment");
    for (String host : new String[] {"hostPID", "hostNetwork", "hostIPC", "hostPath"}) {
      assertThat(pod.toString()).doesNotContain(host);
    }
  }

  /** A config map that is too large would be refused by every cluster. */
  @Test
  void agentFitsIntoAConfigMap() {
    assertThat(AGENT.program().toArray().length).isLessThan(AgentConfigMap.MAX_BYTES);
  }

  @Test
  void kernelsAreTheOnesThatTheRuntimePromises() {
    String gvisor = "Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016";
    String host = "Linux version 6.18.1 (builder) #1 SMP";
    String boot = "5a2e6b9c-0000-4000-8000-0123456789ab";

    assertThat(PodRuntime.GVISOR.matches(gvisor, "", "6.18.1", "b")).isTrue();
    assertThat(PodRuntime.GVISOR.matches(host, "", "6.18.1", "b")).isFalse();
    assertThat(PodRuntime.GVISOR.matches(gvisor, "", "", "b")).isFalse();
    assertThat(PodRuntime.VIRTUAL_MACHINE.matches(host, boot, "6.1.0", "b")).isTrue();
    assertThat(PodRuntime.VIRTUAL_MACHINE.matches(host, boot, "6.18.1", "b")).isFalse();
    assertThat(PodRuntime.VIRTUAL_MACHINE.matches(host, boot, "6.1.0", boot)).isFalse();
    assertThat(PodRuntime.VIRTUAL_MACHINE.matches(gvisor, boot, "6.1.0", "b")).isFalse();
  }

  @Test
  void usersAreRemappedOnlyWhereNodesReportIt() throws IOException {
    String node =
        """
        {"status": {"runtimeHandlers": [
          {"name": "", "features": {"userNamespaces": true}},
          {"name": "runsc", "features": {"userNamespaces": false}}]}}
        """;
    JsonValue parsed = JsonValue.parse(node.getBytes(StandardCharsets.UTF_8));
    assertThat(PodIsolation.supports(parsed, "")).isTrue();
    assertThat(PodIsolation.supports(parsed, "runsc")).isFalse();
    assertThat(PodIsolation.supports(parsed, "kata")).isFalse();
  }

  @Test
  void sharedUsersAreRecognized() {
    assertThat(PodIsolation.isShared("         0          0 4294967295\n")).isTrue();
    assertThat(PodIsolation.isShared("")).isTrue();
    assertThat(PodIsolation.isShared("         0     65536      65536\n")).isFalse();
  }
}
