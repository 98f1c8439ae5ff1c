package dev.isola.host.network;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs the network in a separate process, so that it can be put into namespaces and killed.
 * Executes the commands of its input and answers each with one line.
 */
final class NetworkProcess {
  private NetworkProcess() {}

  public static void main(String[] args) throws IOException {
    BridgeNetwork network = new BridgeNetwork(new InstanceId(args[0]));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println("ready");
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      System.out.println(answer(network, line.split(" ")));
    }
  }

  private static String answer(BridgeNetwork network, String[] words) {
    try {
      return switch (words[0]) {
        case "find" -> found(network.prerequisite(), network.limitsBandwidth());
        case "resolvers" -> "ok " + network.resolvConf().strip();
        case "interrupt" -> {
          Thread.currentThread().interrupt();
          String answer = answer(network, Arrays.copyOfRange(words, 1, words.length));
          yield answer + (Thread.interrupted() ? ", interrupted" : "");
        }
        case "attach" -> {
          Attachment created =
              network.attach(
                  new SandboxId(words[1]),
                  agent(Long.parseLong(words[2])),
                  Integer.parseInt(words[3]));
          yield "ok " + created.address() + " " + created.gateway();
        }
        case "remove" -> {
          network.remove(new SandboxId(words[1]));
          yield "ok";
        }
        default -> throw new IllegalArgumentException(words[0]);
      };
    } catch (IOException | SandboxException e) {
      return "failed " + e.getMessage();
    }
  }

  private static String found(Prerequisite requirement, boolean limits) {
    return requirement.present()
        ? "ok " + requirement.detail() + (limits ? "; limits" : "")
        : "missing " + requirement.detail() + "; " + requirement.fix();
  }

  private static AgentProcess agent(long pid) {
    return new AgentProcess(pid, AgentProcess.startTimeOf(pid).orElse(0L), true);
  }
}
