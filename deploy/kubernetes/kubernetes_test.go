// Package kubernetes checks that kustomize builds these files, and that the API of
// Kubernetes knows every field in them.
package kubernetes

import (
	"bytes"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// build gives the objects of a kustomization, each as its own type.
func build(t *testing.T, dir string) []runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, autoscaling.AddToScheme, core.AddToScheme,
		networking.AddToScheme, policy.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		objects = append(objects, object)
	}
	return objects
}

func deployments(objects []runtime.Object) map[string]*apps.Deployment {
	found := map[string]*apps.Deployment{}
	for _, o := range objects {
		if d, ok := o.(*apps.Deployment); ok {
			found[d.Name] = d
		}
	}
	return found
}

func TestBase(t *testing.T) {
	objects := build(t, "base")
	if len(objects) != 6 {
		t.Errorf("%d objects, want 6", len(objects))
	}
	found := deployments(objects)
	for name, role := range map[string]string{"helixd": "stream", "helixd-workers": "worker"} {
		t.Run(name, func(t *testing.T) {
			d := found[name]
			if d == nil {
				t.Fatal("there is none")
			}
			pod, c := d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
			if *d.Spec.Replicas != 2 || len(c.Args) != 3 || c.Args[2] != role {
				t.Errorf("%d of %q", *d.Spec.Replicas, c.Args)
			}
			if c.LivenessProbe.HTTPGet.Path != "/livez" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
				t.Error("the probes ask something else")
			}
			// What the Pod Security Standard "restricted" demands.
			s := c.SecurityContext
			if !*pod.SecurityContext.RunAsNonRoot || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
				len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" || len(s.Capabilities.Add) != 0 ||
				pod.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
				t.Error("it is not restricted")
			}
			for key, value := range d.Spec.Selector.MatchLabels {
				if d.Spec.Template.Labels[key] != value {
					t.Errorf("the selector's %s is not the pod's", key)
				}
			}
			ports := map[string]bool{}
			for _, p := range c.Ports {
				ports[p.Name] = true
			}
			if !ports["http"] {
				t.Error("no port is named http")
			}
		})
	}
	for _, o := range objects {
		p, ok := o.(*networking.NetworkPolicy)
		if !ok {
			continue
		}
		if p.Spec.PodSelector.MatchLabels["app.kubernetes.io/name"] != "helixd" {
			t.Error("the network policy is for other pods too")
		}
		for _, in := range p.Spec.Ingress { // a rule without from, or a peer without labels, lets everybody in
			if len(in.From) != 1 || in.From[0].NamespaceSelector == nil || in.From[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] != "monitoring" {
				t.Errorf("others than monitoring may come in: %+v", in.From)
			}
			if len(in.Ports) != 1 || in.Ports[0].Port.String() != "http" {
				t.Errorf("they may reach other ports than http: %+v", in.Ports)
			}
		}
	}
}

func TestWorkers(t *testing.T) {
	objects := build(t, "overlays/workers")
	if d := deployments(objects)["helixd-workers"]; d == nil || d.Spec.Replicas != nil {
		t.Error("the autoscaler's replicas would be reset at each apply")
	}
	for _, o := range objects {
		if h, ok := o.(*autoscaling.HorizontalPodAutoscaler); ok {
			if h.Spec.ScaleTargetRef.Name != "helixd-workers" {
				t.Errorf("it scales %s", h.Spec.ScaleTargetRef.Name)
			}
			return
		}
	}
	t.Error("there is no autoscaler")
}
