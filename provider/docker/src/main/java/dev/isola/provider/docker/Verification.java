package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.provider.docker.http.Answer;
import dev.isola.provider.docker.http.Request;
import dev.isola.spi.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Makes sure that a sandbox runs by the runtime that was asked for. Podman 4.3 takes any name and
 * uses another; nothing runs in a sandbox before this has passed.
 */
record Verification(Flavour flavour, Engine engine) {
  private static final Pattern GVISOR = Pattern.compile("Linux version 4\\.4\\.0 ");
  private static final Pattern RELEASE = Pattern.compile("Linux version (\\S+)");
  private static final String VERSION = "/proc/version";
  private static final int LONGEST_VERSION = 1024;

  /**
   * @throws dev.isola.spi.error.ProviderUnavailable when it is not what was asked for, or that
   *     cannot be told
   */
  void verify(String container, Sandbox sandbox, Optional<String> runtime, Facts facts) {
    if (runtime.isPresent()) {
      String used = used(container, facts);
      if (!used.equals(runtime.get()) && !used.endsWith("/" + runtime.get())) {
        throw wrong(sandbox, "the engine ran it with '" + used + "' and not " + runtime.get());
      }
    }
    if (flavour.guest() == Flavour.Guest.HOST_KERNEL) {
      return;
    }
    String guest = sandbox.files().readText(VERSION, UTF_8, LONGEST_VERSION).strip();
    Matcher release = RELEASE.matcher(guest);
    boolean own = release.lookingAt() && !release.group(1).equals(facts.kernel());
    boolean right =
        flavour.guest() == Flavour.Guest.GVISOR ? GVISOR.matcher(guest).lookingAt() : own;
    if (!own || !right || facts.kernel().isEmpty()) {
      throw wrong(sandbox, "the kernel in it is " + guest);
    }
  }

  private String used(String container, Facts facts) {
    if (facts.podman()) {
      Answer answer =
          engine
              .http()
              .ask(Request.get("/v4.0.0/libpod/containers/" + container + "/json"), Engine.quick());
      engine.need(answer, "inspecting the container");
      try {
        return Json.text(Json.read(answer.body().toArray()), "OCIRuntime");
      } catch (IOException e) {
        return "";
      }
    }
    return engine
        .inspect(container)
        .map((JsonNode node) -> Json.text(node, "HostConfig", "Runtime"))
        .orElse("");
  }

  private SandboxException wrong(Sandbox sandbox, String what) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox "
                + sandbox.id()
                + " is not isolated as "
                + flavour.name()
                + " promises: "
                + what,
            "see which runtimes the engine has, and what they are")
        .sandbox(sandbox.id())
        .exception();
  }
}
