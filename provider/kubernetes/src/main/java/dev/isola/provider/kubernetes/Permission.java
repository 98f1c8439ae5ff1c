package dev.isola.provider.kubernetes;

import java.util.ArrayList;
import java.util.List;

/**
 * A permission that the provider needs.
 *
 * @param group the API group; empty for the core
 * @param subresource empty for the object itself
 * @param inNamespace false for objects of the whole cluster
 */
record Permission(
    String verb, String group, String resource, String subresource, boolean inNamespace) {

  /** Returns the permissions that the settings need. */
  static List<Permission> needed(KubernetesSettings settings) {
    List<Permission> all = new ArrayList<>();
    boolean resources = settings.mode() == KubernetesSettings.Mode.AGENT_SANDBOX;
    for (String verb : List.of("get", "list", "watch", "delete")) {
      all.add(new Permission(verb, "", "pods", "", true));
    }
    if (resources) {
      for (String verb : List.of("create", "get", "list", "patch", "delete")) {
        all.add(new Permission(verb, SandboxResources.GROUP, "sandboxes", "", true));
      }
    } else {
      all.add(new Permission("create", "", "pods", "", true));
    }
    all.add(new Permission("create", "", "pods", "exec", true));
    // An exec over a WebSocket is a GET.
    all.add(new Permission("get", "", "pods", "exec", true));
    all.add(new Permission("list", "", "events", "", true));
    all.add(new Permission("watch", "", "events", "", true));
    for (String verb : List.of("create", "get", "list", "delete")) {
      all.add(new Permission(verb, "", "configmaps", "", true));
      all.add(new Permission(verb, "networking.k8s.io", "networkpolicies", "", true));
    }
    if (settings.storage().isPresent()) {
      for (String verb : List.of("create", "get", "list", "delete")) {
        all.add(new Permission(verb, "", "persistentvolumeclaims", "", true));
      }
    }
    if (settings.runtimeClass().isPresent()) {
      all.add(new Permission("get", "node.k8s.io", "runtimeclasses", "", false));
      all.add(new Permission("get", "", "nodes", "", false));
    }
    return List.copyOf(all);
  }

  @Override
  public String toString() {
    return verb
        + " "
        + resource
        + (subresource.isEmpty() ? "" : "/" + subresource)
        + (group.isEmpty() ? "" : "." + group);
  }
}
